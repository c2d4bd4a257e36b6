package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.GroupSummary;
import io.millrace.store.Limits;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.Read;
import io.millrace.store.Reason;
import io.millrace.store.Reason.Kind;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreStatus;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Activity;
import io.millrace.store.journal.Frame;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one activity that owns the state and feeds the journal. It takes messages, decides, records,
 * applies, and gives each answer once the disk has what the answer rests on.
 */
final class StoreLoop implements Activity {
  private static final Logger LOG = LoggerFactory.getLogger(StoreLoop.class);

  /** The most messages handled before the journal and the answers have their turn. */
  private static final int TURN = 1_000;

  private static final long LONGEST_PAUSE_MILLIS = 3_600_000;

  private final StoreOptions options;
  private final Limits limits;
  private final State state;
  private final History history;
  private final Decider decider;
  private final StoreClock clock;
  private final RandomGenerator random;
  private final Mailbox mailbox;
  private final JournalFeed feed;
  private final Broadcast broadcast;
  private final Snapshots snapshots;
  private final WaitingClaims waiting = new WaitingClaims();
  private final Answers answers = new Answers();
  private final Counters counters = new Counters();
  private Mailbox.@Nullable Message backlog;
  private boolean sealed;
  private volatile boolean closing;

  /** A loop over what recovery found, with its parts. */
  StoreLoop(
      StoreOptions options,
      Recovered recovered,
      Mailbox mailbox,
      JournalFeed feed,
      Broadcast broadcast,
      Snapshots snapshots) {
    this.options = options;
    this.limits = options.limits();
    this.state = recovered.state();
    this.history = recovered.history();
    this.clock = recovered.clock();
    this.decider = new Decider(state, limits);
    this.random = options.environment().newRandom();
    this.mailbox = mailbox;
    this.feed = feed;
    this.broadcast = broadcast;
    this.snapshots = snapshots;
  }

  State state() {
    return state;
  }

  History history() {
    return history;
  }

  /** What broke the journal; null while it works. Safe for use by any thread. */
  @Nullable Throwable failure() {
    return feed.failure();
  }

  long durableCommits() {
    return feed.durableCommits();
  }

  Snapshots snapshots() {
    return snapshots;
  }

  Broadcast broadcast() {
    return broadcast;
  }

  /** Makes the loop finish what has come and then end. */
  void close() {
    closing = true;
  }

  @Override
  public long step() {
    try {
      if (feed.failure() != null) {
        return stop(feed.failure());
      }
      return turn();
    } catch (RuntimeException | Error e) {
      LOG.error("the store stops because of a fault of its own", e);
      return stop(e);
    }
  }

  private long turn() {
    release();
    long nowMillis = clock.millis();
    boolean more = state.advance(nowMillis);
    expire(nowMillis);
    serve(nowMillis);
    if (hasRoom()) {
      more |= handleMessages(nowMillis);
    }
    flush(nowMillis);
    release();
    if (closing && backlog == null) {
      backlog = mailbox.close();
      if (backlog == null) {
        return finish();
      }
      more = true;
    }
    return more && hasRoom() ? 0 : pause();
  }

  /** Whether the journal can take more; if not, its bell will ring. */
  private boolean hasRoom() {
    return !feed.isFull() && feed.unsyncedBytes() < limits.unsyncedBytes();
  }

  /** The nanoseconds until something is due. */
  private long pause() {
    long alarm = Math.min(state.alarm(), waiting.alarm());
    return alarm == Long.MAX_VALUE
        ? UNTIL_SIGNALLED
        : Math.clamp(alarm - clock.millis(), 0, LONGEST_PAUSE_MILLIS) * 1_000_000;
  }

  /** Handles a turn's worth of messages; tells whether there are more. */
  private boolean handleMessages(long nowMillis) {
    Mailbox.Message message = backlog == null ? mailbox.take() : backlog;
    for (int i = 0; i < TURN && message != null && hasRoom(); i++) {
      Mailbox.Message following = message.next();
      switch (message) {
        case Submission submission -> handle(submission, nowMillis);
        case Query<?> query -> ask(query, nowMillis);
        case Withdrawal withdrawal -> waiting.withdraw(withdrawal.submission());
        default -> throw new IllegalStateException("an unknown message: " + message);
      }
      message = following;
    }
    backlog = message;
    return backlog != null || !mailbox.isEmpty();
  }

  private void handle(Submission submission, long nowMillis) {
    if (submission.answer().isDone()) {
      return;
    }
    Command command = submission.command();
    Outcome outcome = decide(command, nowMillis);
    if (outcome == null) {
      outcome = park(submission, (Claim) command, nowMillis);
    }
    if (outcome != null) {
      answer(submission.answer(), outcome);
      answerTwins(command, nowMillis);
    }
    serve(nowMillis);
  }

  /** The outcome, already applied and on its way to the journal; null for a claim that may wait. */
  private @Nullable Outcome decide(Command command, long nowMillis) {
    return switch (decider.decide(command, nowMillis, random)) {
      case Decision.Accepted accepted -> accept(command, accepted, nowMillis);
      case Decision.Nothing _ -> {
        if (command instanceof Claim claim) {
          if (claim.waitMillis() > 0) {
            yield null;
          }
          counters.empty++;
        }
        yield new Outcome.Done(position(), nowMillis, List.of(), List.of(), false);
      }
      case Decision.Repeated(Event event) -> {
        counters.repeated++;
        yield new Outcome.Done(
            position(event.number()), event.timeMillis(), event.tasks(), event.documents(), true);
      }
      case Decision.Refused(List<Reason> reasons) -> refuse(reasons, nowMillis);
    };
  }

  private Outcome.Refused refuse(List<Reason> reasons, long nowMillis) {
    counters.refused++;
    return new Outcome.Refused(position(), nowMillis, reasons);
  }

  private Outcome accept(Command command, Decision.Accepted accepted, long nowMillis) {
    boolean override = command instanceof Transaction transaction && transaction.override();
    Event event =
        new Event(
            state.commits() + 1,
            nowMillis,
            command.client(),
            override,
            accepted.changes(),
            accepted.request());
    feed.add(event, options.environment().nanos());
    state.apply(event);
    if (command instanceof Claim) {
      counters.claimed++;
    } else {
      counters.committed++;
    }
    List<Task> tasks = event.tasks();
    List<Document> documents = event.documents();
    return new Outcome.Done(position(), nowMillis, tasks, documents, false);
  }

  private @Nullable Outcome park(Submission submission, Claim claim, long nowMillis) {
    if (waiting.size() >= limits.waitingClaims()) {
      String message = waiting.size() + " claims are waiting already, no more can";
      return refuse(List.of(Reason.of(Kind.FULL, message)), nowMillis);
    }
    long deadline = Math.min(nowMillis + claim.waitMillis(), Limits.LARGEST_NUMBER);
    waiting.add(submission, claim, deadline);
    return null;
  }

  /** Offers what has become available to those who wait. */
  private void serve(long nowMillis) {
    if (waiting.isEmpty()) {
      state.clearStirred();
      return;
    }
    for (List<String> stirred = state.takeStirred();
        !stirred.isEmpty();
        stirred = state.takeStirred()) {
      waiting.serve(
          new LinkedHashSet<>(stirred), this::hasWaiting, waiter -> attempt(waiter, nowMillis));
    }
  }

  private boolean hasWaiting(String name) {
    Group group = state.group(name);
    return group != null && group.waitingCount() > 0;
  }

  /** Gives those who repeated a request, and wait, the answer that it has got meanwhile. */
  private void answerTwins(Command command, long nowMillis) {
    String requestId = command.requestId();
    String principal = command.client().principal();
    if (requestId != null && state.requests().find(principal, requestId, nowMillis) != null) {
      for (WaitingClaims.Waiter twin : waiting.twins(command)) {
        answerNow(twin, nowMillis);
      }
    }
  }

  /** Answers a claim that waits no longer: with what it can have now, or with nothing. */
  private void answerNow(WaitingClaims.Waiter waiter, long nowMillis) {
    CompletableFuture<Outcome> future = waiter.submission().answer();
    if (!future.isDone()) {
      answer(
          future,
          Objects.requireNonNull(decide(waiter.claim().withWait(Duration.ZERO), nowMillis)));
    }
  }

  private boolean attempt(WaitingClaims.Waiter waiter, long nowMillis) {
    CompletableFuture<Outcome> future = waiter.submission().answer();
    if (future.isDone()) {
      return true;
    }
    Outcome outcome = decide(waiter.claim(), nowMillis);
    if (outcome == null) {
      return false;
    }
    answer(future, outcome);
    waiting.withdraw(waiter.submission());
    answerTwins(waiter.claim(), nowMillis);
    return true;
  }

  private void expire(long nowMillis) {
    for (WaitingClaims.Waiter waiter = waiting.expire(nowMillis);
        waiter != null;
        waiter = waiting.expire(nowMillis)) {
      answerNow(waiter, nowMillis);
    }
  }

  private <T> void ask(Query<T> query, long nowMillis) {
    try {
      T value = query.question().apply(this);
      answer(query.answer(), new Read<>(position(), nowMillis, value));
    } catch (StoreException e) {
      query.answer().completeExceptionally(e);
    }
  }

  /**
   * The one rule of release, see {@link Answers}. An opportunistic store answers at the end of the
   * turn: who keeps several commands under way then wakes up once for all of them.
   */
  private <T> void answer(CompletableFuture<T> future, T answer) {
    switch (options.journaling()) {
      case STRICT -> {
        long sequence = feed.newestSequence();
        if (sequence <= feed.durableSequence() && answers.isEmpty()) {
          future.complete(answer);
        } else {
          answers.hold(sequence, future, answer);
        }
      }
      case OPPORTUNISTIC -> answers.hold(feed.durableSequence(), future, answer);
    }
  }

  Position position() {
    return position(state.commits());
  }

  Position position(long number) {
    return new Position(history.id(), number);
  }

  private void flush(long nowMillis) {
    Frame frame = feed.flush(nowMillis, state.commits());
    if (frame != null) {
      snapshots.noteFrame(frame);
    }
    if (!sealed && !feed.isGathering()) {
      snapshots.consider(state, history);
    }
  }

  private void release() {
    List<Event> durable = feed.takeDurable();
    if (!durable.isEmpty()) {
      broadcast.publish(durable);
      snapshots.noteDurable();
    }
    answers.release(feed.durableSequence());
  }

  StoreStatus status() {
    long nowNanos = options.environment().nanos();
    List<GroupSummary> groups = state.freezeSummaries();
    return new StoreStatus(
        position(),
        position(feed.durableCommits()),
        clock.millis(),
        options.journaling(),
        state.taskCount(),
        groups.size(),
        state.documentCount(),
        waiting.size(),
        broadcast.size(),
        state.requests().size(),
        state.memoryBytes(),
        limits.memoryBytes(),
        feed.unsyncedBytes(),
        (nowNanos - feed.unsyncedSinceNanos(nowNanos)) / 1_000_000,
        counters.committed,
        counters.claimed,
        counters.empty,
        counters.refused,
        counters.repeated,
        feed.frames(),
        snapshots.published());
  }

  /** Ends in order: nothing new is taken, and everything decided becomes durable. */
  private long finish() {
    StoreClosedException why = new StoreClosedException("the store is closed");
    for (WaitingClaims.Waiter waiter : waiting.drain()) {
      waiter.submission().reject(why);
    }
    if (!sealed) {
      sealed = true;
      feed.add(new JournalRecord.Closed());
      flush(clock.millis());
    }
    if (!feed.isIdle() || !answers.isEmpty()) {
      flush(clock.millis());
      release();
    }
    if (!feed.isIdle() || !answers.isEmpty()) {
      return UNTIL_SIGNALLED;
    }
    broadcast.close();
    return FINISHED;
  }

  /** Ends because nothing more can be promised. */
  private long stop(@Nullable Throwable cause) {
    String what = cause == null ? "unknown fault" : String.valueOf(cause.getMessage());
    LOG.error("the store has stopped: {}", what);
    StoreClosedException why =
        cause == null
            ? new StoreClosedException("the store has stopped")
            : new StoreClosedException("the store has stopped: " + what, cause);
    rejectAll(mailbox.close(), why);
    rejectAll(backlog, why);
    backlog = null;
    for (WaitingClaims.Waiter waiter : waiting.drain()) {
      waiter.submission().reject(why);
    }
    answers.release(feed.durableSequence());
    answers.fail(cause);
    snapshots.stop();
    broadcast.close();
    return FINISHED;
  }

  private static void rejectAll(Mailbox.@Nullable Message first, RuntimeException why) {
    for (Mailbox.Message message = first; message != null; message = message.next()) {
      message.reject(why);
    }
  }
}

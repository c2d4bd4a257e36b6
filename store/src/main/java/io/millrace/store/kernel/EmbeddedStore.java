package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.StoreBusyException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.StoreStatus;
import io.millrace.store.StoreStatus.DiskState;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.kernel.snapshots.Backups;
import io.millrace.store.kernel.state.FrozenState;
import io.millrace.store.kernel.state.Listings;
import io.millrace.store.kernel.state.State;
import io.millrace.store.kernel.subscriptions.Broadcast;
import io.millrace.store.kernel.subscriptions.LiveSubscription;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The store in this process: sends commands and queries to its loop. Thread-safe. */
public final class EmbeddedStore extends StateReads implements EmbeddedTaskStore {
  private final StoreOptions options;
  private final Environment environment;
  private final Limits limits;
  private final Journal journal;
  private final Journal.Leader leader;
  private final Mailbox mailbox;
  private final StoreLoop loop;
  private final Driver driver;

  /** A store whose loop is running. */
  EmbeddedStore(
      StoreOptions options,
      Journal journal,
      Journal.Leader leader,
      Mailbox mailbox,
      StoreLoop loop,
      Driver driver) {
    super(options.limits());
    this.options = options;
    this.environment = options.environment();
    this.limits = options.limits();
    this.journal = journal;
    this.leader = leader;
    this.mailbox = mailbox;
    this.loop = loop;
    this.driver = driver;
  }

  @Override
  public Ids ids() {
    return options.ids();
  }

  /** Waits for an answer, and throws its exception unwrapped. */
  static <T> T await(Environment environment, CompletableFuture<T> answer) {
    try {
      return environment.await(answer);
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreException failure) {
        throw failure;
      }
      throw e;
    }
  }

  /** Sends a message, or rejects it if there is no room. */
  private void send(Mailbox.Message message) {
    Mailbox.Receipt receipt = mailbox.push(message);
    if (receipt == Mailbox.Receipt.FULL) {
      message.reject(busy());
    }
    settle(message, receipt);
  }

  /** Sends a message; waits for room and for the answer. */
  private <T> T sendAndAwait(String what, Mailbox.Message message, CompletableFuture<T> answer) {
    loop.thread().refuseToWait(what);
    Mailbox.Receipt receipt = mailbox.push(message);
    while (receipt == Mailbox.Receipt.FULL) {
      CompletableFuture<Void> room = mailbox.room();
      receipt = mailbox.push(message);
      if (receipt == Mailbox.Receipt.FULL) {
        driver.signal();
        environment.await(room);
      }
    }
    settle(message, receipt);
    return await(environment, answer);
  }

  private void settle(Mailbox.Message message, Mailbox.Receipt receipt) {
    switch (receipt) {
      // Signal even if others wait: the caller that enqueued the first may fail before it wakes us.
      case TAKEN, FULL -> driver.signal();
      case REFUSED -> message.reject(whyClosed());
    }
  }

  private StoreBusyException busy() {
    return new StoreBusyException(
        "the store is busy: %d commands or %d bytes of commands are already waiting"
            .formatted(limits.queuedCommands(), limits.queuedBytes()));
  }

  private StoreClosedException whyClosed() {
    Throwable failure = loop.failure();
    return failure == null
        ? new StoreClosedException("the store is closed")
        : new StoreClosedException("the store has stopped: " + failure.getMessage(), failure);
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    Submission submission = submission(command);
    send(submission);
    return submission.answer();
  }

  @Override
  public CompletableFuture<Outcome> enqueue(Command command) {
    Submission submission = submission(command);
    switch (mailbox.push(submission)) {
      case TAKEN -> {}
      case FULL -> submission.reject(busy());
      case REFUSED -> submission.reject(whyClosed());
    }
    return submission.answer();
  }

  private Submission submission(Command command) {
    return new Submission(command, loop.thread(), this::cancel);
  }

  @Override
  public void wake() {
    if (!mailbox.isEmpty()) {
      driver.runOrSignal();
    }
  }

  private void cancel(Submission submission) {
    if (submission.command() instanceof Claim claim && claim.waitMillis() > 0) {
      send(submission.cancellation());
    }
  }

  @Override
  public Outcome commit(Transaction transaction) {
    return command("commit", transaction);
  }

  @Override
  public Outcome claim(Claim claim) {
    return command("claim", claim);
  }

  private Outcome command(String what, Command command) {
    Submission submission = submission(command);
    return sendAndAwait(what, submission, submission.answer());
  }

  private <T> Read<T> ask(Function<StoreLoop, T> question) {
    StoreLoop.Query<T> query = new StoreLoop.Query<>(question);
    return sendAndAwait("a read", query, query.answer());
  }

  @Override
  <T> Read<T> read(Function<State, T> question) {
    return ask(it -> question.apply(it.state()));
  }

  @Override
  public Subscription subscribe(Interest interest) {
    return ask(it -> subscribe(it, interest)).value().open();
  }

  /**
   * Registers a subscription. This runs on the loop's thread, so that no commit is missed; the
   * subscriber's thread opens it afterwards.
   */
  private LiveSubscription subscribe(StoreLoop loop, Interest interest) {
    Broadcast broadcast = loop.pipeline().broadcast();
    int max = limits.subscribers();
    if (broadcast.size() >= max) {
      throw new StoreException(max + " subscriptions are already open, which is the limit");
    }
    long durable = loop.pipeline().feed().durableCommits();
    Position from = startOf(loop, interest.after(), durable);
    boolean live = from.number() >= durable;
    return new LiveSubscription(
        interest, from, live, broadcast, leader, environment, loop.thread()::refuseToWait);
  }

  private static Position startOf(StoreLoop loop, @Nullable Position after, long durable) {
    if (after == null) {
      return loop.engine().position(durable);
    }
    if (!loop.engine().history().includes(after.history(), after.number())
        || after.number() > loop.state().commits()) {
      throw new PositionLostException(
          Why.OTHER_HISTORY, after, "position " + after + " is not in this store's history");
    }
    return loop.engine().position(after.number());
  }

  @Override
  public StoreStatus status() {
    return ask(this::status).value();
  }

  private StoreStatus status(StoreLoop loop) {
    Engine engine = loop.engine();
    State state = engine.state();
    JournalFeed feed = loop.pipeline().feed();
    Engine.Counters counters = engine.counters();
    long nowNanos = environment.nanos();
    List<GroupSummary> groups = state.freezeSummaries();
    return new StoreStatus(
        engine.position(),
        engine.position(feed.durableCommits()),
        loop.clock().millis(),
        options.journaling(),
        state.taskCount(),
        groups.size(),
        state.documentCount(),
        loop.waiting().size(),
        loop.pipeline().broadcast().size(),
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
        counters.limited,
        engine.lapsedClaims(),
        feed.frames(),
        loop.pipeline().snapshots().published());
  }

  @Override
  public Map<ReachedLimit, Long> limitsReached() {
    return ask(it -> Map.copyOf(it.engine().counters().reached)).value();
  }

  @Override
  public Map<String, Long> oldestWaiting() {
    return Listings.oldestWaiting(ask(it -> it.state().freezeGroups()).value());
  }

  @Override
  public DiskState disk() {
    Journal.Shortage shortage = leader.shortage();
    Throwable snapshot = loop.pipeline().snapshots().failure();
    return new DiskState(
        leader.freeBytes(),
        options.upkeep().diskReserveBytes(),
        shortage == null ? null : shortage.why(),
        shortage != null && shortage.stuck(),
        snapshot == null ? null : String.valueOf(snapshot.getMessage()));
  }

  @Override
  public CompletableFuture<Throwable> stopped() {
    return loop.stopped().copy();
  }

  @Override
  public Position backup(OutputStream target) {
    Read<Backups.Frozen> read = ask(this::freeze);
    Backups.write(read.value(), target);
    return read.position();
  }

  private Backups.Frozen freeze(StoreLoop loop) {
    return new Backups.Frozen(
        loop.state().freeze(), loop.engine().history(), loop.pipeline().latestFrame(loop.state()));
  }

  @Override
  public void requestSnapshot() {
    ask(it -> {
      it.pipeline().snapshots().request();
      return true;
    });
  }

  @Override
  public Read<String> digest() {
    Read<FrozenState> read = ask(it -> it.state().freeze());
    return new Read<>(read.position(), read.timeMillis(), read.value().digest());
  }

  @Override
  public long timeAheadMillis() {
    return loop.clock().aheadMillis();
  }

  @Override
  public void close() {
    loop.thread().refuseToWait("close");
    loop.close();
    driver.signal();
    driver.join();
    try {
      loop.pipeline().snapshots().close(loop.state(), loop.engine().history());
    } finally {
      journal.close();
    }
  }
}

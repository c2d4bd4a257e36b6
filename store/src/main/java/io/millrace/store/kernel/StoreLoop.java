package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Outcome;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.environment.Activity;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.kernel.recovery.Replayer;
import io.millrace.store.kernel.state.State;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The activity that owns the state and writes the journal. It takes messages, lets the engine
 * execute commands, and gives each answer once everything that it depends on is durable.
 */
final class StoreLoop implements Activity {
  private static final Logger LOG = LoggerFactory.getLogger(StoreLoop.class);

  /** The largest number of messages that are handled before the group is flushed. */
  private static final int TURN = 1_000;

  private static final long LONGEST_PAUSE_MILLIS = 3_600_000;

  /** How often a closing loop checks whether the journal is stuck. */
  private static final long CLOSING_PAUSE_NANOS = 100_000_000;

  private final Limits limits;
  private final LoopThread thread = new LoopThread();
  private final Mailbox mailbox;
  private final StoreClock clock;
  private final Engine engine;
  private final CommitPipeline pipeline;
  private final JournalFeed feed;
  private final WaitingClaims waiting;
  private final CompletableFuture<Throwable> stopped = new CompletableFuture<>();

  /** The messages that were taken from the mailbox and have not been handled; null for none. */
  private Mailbox.@Nullable Message backlog;

  /** The message that is being handled; null for none. */
  private Mailbox.@Nullable Message begun;

  private volatile boolean closing;
  private volatile @Nullable Throwable stopCause;

  /** A loop for a recovered state. */
  StoreLoop(
      StoreOptions options,
      Replayer.Recovered recovered,
      StoreClock clock,
      Mailbox mailbox,
      CommitPipeline pipeline) {
    this.limits = options.limits();
    this.mailbox = mailbox;
    this.clock = clock;
    this.pipeline = pipeline;
    this.feed = pipeline.feed();
    this.engine = new Engine(options, recovered, feed);
    this.waiting = new WaitingClaims(engine, pipeline, limits);
  }

  Engine engine() {
    return engine;
  }

  State state() {
    return engine.state();
  }

  /** The thread that runs this loop, which must not wait for it. */
  LoopThread thread() {
    return thread;
  }

  StoreClock clock() {
    return clock;
  }

  CommitPipeline pipeline() {
    return pipeline;
  }

  /** Why the loop has stopped by itself; null if it has not. Thread-safe. */
  @Nullable Throwable failure() {
    return stopCause;
  }

  /** Completes on the loop's thread with the cause if it stops by itself; see {@link #failure}. */
  CompletableFuture<Throwable> stopped() {
    return stopped;
  }

  WaitingClaims waiting() {
    return waiting;
  }

  /** Makes the loop handle all received messages and then end. Called by any thread. */
  void close() {
    closing = true;
  }

  @Override
  public long step() {
    thread.enter();
    try {
      Throwable broken = feed.failure();
      return broken == null ? turn() : stop(broken);
    } catch (RuntimeException | Error e) {
      LOG.error("the store stops because of an internal error", e);
      return stop(e);
    } finally {
      thread.leave();
    }
  }

  /** Called if {@link #step} has thrown, for example because of an error in {@link #stop}. */
  @Override
  public void failed(Throwable thrown) {
    thread.enter();
    try {
      stop(thrown);
    } finally {
      thread.leave();
    }
  }

  private long turn() {
    pipeline.release();
    long beat = feed.beat();
    Journal.Shortage shortage = closing ? feed.shortage() : null;
    if (shortage != null && shortage.stuck()) {
      return stop(new JournalException(shortage.why()));
    }
    long nowMillis = clock.millis();
    boolean more = engine.state().advance(nowMillis);
    // In this order, so that a claim whose wait ends does not overtake earlier ones.
    waiting.serve(nowMillis);
    waiting.expire(nowMillis);
    if (hasRoom()) {
      more |= handleMessages(nowMillis);
    }
    pipeline.flush(engine, nowMillis, more);
    pipeline.release();
    if (closing && backlog == null) {
      backlog = mailbox.close();
      if (backlog == null) {
        return finish();
      }
      more = true;
    }
    return more && hasRoom() ? 0 : closing ? CLOSING_PAUSE_NANOS : Math.min(beat, pause());
  }

  /** Whether the journal can take more; if not, the loop is signalled when it can. */
  private boolean hasRoom() {
    return !feed.isFull() && feed.unsyncedBytes() < limits.unsyncedBytes();
  }

  /** The nanoseconds until a delayed task, a lease or a wait is due. */
  private long pause() {
    long due = Math.min(engine.state().nextDueMillis(), waiting.nextDueMillis());
    return due == Long.MAX_VALUE
        ? UNTIL_SIGNALLED
        : Math.clamp(due - clock.millis(), 0, LONGEST_PAUSE_MILLIS) * 1_000_000;
  }

  /** Handles up to {@link #TURN} messages; returns whether there are more. */
  private boolean handleMessages(long nowMillis) {
    if (backlog == null) {
      backlog = mailbox.take();
    }
    for (int i = 0; i < TURN && backlog != null && hasRoom(); i++) {
      Mailbox.Message message = backlog;
      begun = message;
      backlog = message.next();
      switch (message) {
        case Submission submission -> handle(submission, nowMillis);
        case Query<?> query -> ask(query, nowMillis);
        case Submission.Cancellation cancellation -> waiting.cancel(cancellation.submission());
        default -> throw new IllegalStateException("an unknown message: " + message);
      }
      begun = null;
    }
    return backlog != null || !mailbox.isEmpty();
  }

  private void handle(Submission submission, long nowMillis) {
    if (submission.answer().isDone()) {
      return;
    }
    Command command = submission.command();
    Outcome outcome = engine.execute(command, nowMillis);
    if (outcome == null) {
      outcome = waiting.admit(submission, (Claim) command, nowMillis);
    }
    if (outcome != null) {
      pipeline.reply(submission.answer(), outcome);
      waiting.answerDuplicates(command, nowMillis);
    }
    waiting.serve(nowMillis);
  }

  private <T> void ask(Query<T> query, long nowMillis) {
    try {
      T value = query.question().apply(this);
      pipeline.reply(query.answer(), new Read<>(engine.position(), nowMillis, value));
    } catch (StoreException e) {
      query.answer().completeExceptionally(e);
    }
  }

  /** Ends normally: all decided commands become durable, and no new ones are accepted. */
  private long finish() {
    waiting.close(new StoreClosedException("the store is closed"));
    return pipeline.seal(engine, clock.millis()) ? FINISHED : CLOSING_PAUSE_NANOS;
  }

  /** Stops after a failure. */
  private long stop(Throwable cause) {
    stopCause = cause;
    try {
      LOG.error("the store has stopped: {}", cause.getMessage());
      StoreClosedException why =
          new StoreClosedException("the store has stopped: " + cause.getMessage(), cause);
      if (begun != null) {
        // It may have been decided without an answer.
        begun.reject(CommitPipeline.unanswered(cause));
      }
      rejectAll(backlog, why);
      backlog = null;
      rejectAll(mailbox.close(), why);
      waiting.close(why);
    } finally {
      try {
        pipeline.stop(cause);
      } finally {
        stopped.complete(cause);
      }
    }
    return FINISHED;
  }

  private static void rejectAll(Mailbox.@Nullable Message first, RuntimeException why) {
    for (Mailbox.Message message = first; message != null; message = message.next()) {
      message.reject(why);
    }
  }

  /**
   * A message for a read.
   *
   * @param <T> the type of the result
   */
  static final class Query<T> extends Mailbox.Message {
    private final Function<StoreLoop, T> question;
    private final CompletableFuture<Read<T>> answer = new CompletableFuture<>();

    /** A read that evaluates {@code question} on the loop's thread. */
    Query(Function<StoreLoop, T> question) {
      this.question = question;
    }

    @Override
    long sizeBytes() {
      return Mailbox.MESSAGE_BYTES;
    }

    Function<StoreLoop, T> question() {
      return question;
    }

    CompletableFuture<Read<T>> answer() {
      return answer;
    }

    @Override
    void reject(RuntimeException why) {
      answer.completeExceptionally(why);
    }
  }
}

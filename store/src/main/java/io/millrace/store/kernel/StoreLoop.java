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
 * The one activity that owns the state and feeds the journal. It takes messages, has the engine
 * carry them out, and gives each answer once the disk has what the answer rests on.
 */
final class StoreLoop implements Activity {
  private static final Logger LOG = LoggerFactory.getLogger(StoreLoop.class);

  /** The most messages handled before the journal and the answers have their turn. */
  private static final int TURN = 1_000;

  private static final long LONGEST_PAUSE_MILLIS = 3_600_000;

  /** How often a loop that is to close looks whether the journal is stuck. */
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

  /** What was taken from the mailbox and has not had its turn. */
  private Mailbox.@Nullable Message backlog;

  /** What has its turn now. */
  private Mailbox.@Nullable Message begun;

  private volatile boolean closing;
  private volatile @Nullable Throwable stopCause;

  /** A loop over what recovery found. */
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

  /** The thread that steps this, which must not wait for it. */
  LoopThread thread() {
    return thread;
  }

  StoreClock clock() {
    return clock;
  }

  CommitPipeline pipeline() {
    return pipeline;
  }

  /** Why the loop has stopped by itself; null while it works. Safe for use by any thread. */
  @Nullable Throwable failure() {
    return stopCause;
  }

  /** Completes, on the loop's thread, with why it has stopped; never if it ends in order. */
  CompletableFuture<Throwable> stopped() {
    return stopped;
  }

  WaitingClaims waiting() {
    return waiting;
  }

  /** Makes the loop finish what has come and then end. */
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
      LOG.error("the store stops because of a fault of its own", e);
      return stop(e);
    } finally {
      thread.leave();
    }
  }

  /** What {@link #step} could not handle itself, such as an error while it stopped. */
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
    Journal.Shortage shortage = closing ? feed.shortage() : null;
    if (shortage != null && shortage.stuck()) {
      return stop(new JournalException(shortage.why()));
    }
    long nowMillis = clock.millis();
    boolean more = engine.state().advance(nowMillis);
    // In this order: a claim whose wait ends does not get ahead of those that came before it.
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
    return more && hasRoom() ? 0 : closing ? CLOSING_PAUSE_NANOS : pause();
  }

  /** Whether the journal can take more; if not, its bell will ring. */
  private boolean hasRoom() {
    return !feed.isFull() && feed.unsyncedBytes() < limits.unsyncedBytes();
  }

  /** The nanoseconds until something is due. */
  private long pause() {
    long due = Math.min(engine.state().nextDueMillis(), waiting.nextDueMillis());
    return due == Long.MAX_VALUE
        ? UNTIL_SIGNALLED
        : Math.clamp(due - clock.millis(), 0, LONGEST_PAUSE_MILLIS) * 1_000_000;
  }

  /** Handles a turn's worth of messages; tells whether there are more. */
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
    Outcome outcome = engine.carryOut(command, nowMillis);
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

  /** Ends in order: nothing new is taken, and everything decided becomes durable. */
  private long finish() {
    waiting.close(new StoreClosedException("the store is closed"));
    return pipeline.seal(engine, clock.millis()) ? FINISHED : CLOSING_PAUSE_NANOS;
  }

  /** Ends because nothing more can be promised. */
  private long stop(Throwable cause) {
    stopCause = cause;
    try {
      LOG.error("the store has stopped: {}", cause.getMessage());
      StoreClosedException why =
          new StoreClosedException("the store has stopped: " + cause.getMessage(), cause);
      if (begun != null) {
        // It may have been decided, and its answer not given yet.
        begun.reject(CommitPipeline.unknown(cause));
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
   * A read on its way to the loop.
   *
   * @param <T> what it gives
   */
  static final class Query<T> extends Mailbox.Message {
    private final Function<StoreLoop, T> question;
    private final CompletableFuture<Read<T>> answer = new CompletableFuture<>();

    /** Asks what {@code question} makes of the loop and its state, on the loop's thread. */
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

package io.millrace.store.kernel.snapshots;

import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Upkeep;
import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.kernel.records.History;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.recovery.Replayer.Recovered.Replayed;
import io.millrace.store.kernel.state.State;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins a snapshot when enough commits have come since the last one. The loop calls it between two
 * groups, when the state is just what the journal adds up to. Once the loop has ended, it writes a
 * last one if the next start would have much to read.
 */
public final class Snapshots {
  private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

  /** So many bytes of journal after the last snapshot are worth one at the close: 16 MiB. */
  static final long WORTHWHILE_BYTES = 16 << 20;

  /** How long after a failure the next snapshot may begin. */
  static final Duration RETRY = Duration.ofMinutes(1);

  private final Environment environment;
  private final Journal journal;
  private final LongSupplier durableSequence;
  private final Upkeep upkeep;
  private final Journaling journaling;
  private Frame latest;

  /** The bytes of all frames, those included that were replayed. */
  private long bytes;

  private boolean closed;

  // Where the newest snapshot stands. Written by the thread that wrote it, before it is done.
  private long commitsAtLast;
  private long bytesAtLast;

  /** Why the last snapshot failed; null if it did not. */
  private volatile @Nullable Throwable failure;

  private volatile long retryAtNanos;

  private @Nullable Driver driver;
  private volatile boolean running;
  private volatile boolean requested;
  private volatile boolean stopped;

  /** Whether only {@link #leftNanos} are left for what is being written. */
  private volatile boolean closing;

  private volatile long closingSinceNanos;
  private final AtomicLong published = new AtomicLong();

  /**
   * For a store that opened with frame {@code opened}.
   *
   * @param durableSequence the last frame that is durable
   * @param replayed what it read when it opened
   */
  public Snapshots(
      StoreOptions options,
      Journal journal,
      LongSupplier durableSequence,
      Frame opened,
      Replayed replayed) {
    this.environment = options.environment();
    this.journal = journal;
    this.durableSequence = durableSequence;
    this.upkeep = options.upkeep();
    this.journaling = options.journaling();
    this.latest = header(opened);
    this.commitsAtLast = replayed.snapshotAt();
    this.bytes = replayed.bytes();
  }

  private static Frame header(Frame frame) {
    return new Frame(
        frame.sequence(),
        frame.epoch(),
        frame.writer(),
        frame.timeMillis(),
        frame.durableSequence(),
        frame.position(),
        ByteBuffer.allocate(0));
  }

  /** How many snapshots were published. Safe for use by any thread. */
  public long published() {
    return published.get();
  }

  /**
   * The header of the frame that ends with the newest commit, once it is written.
   *
   * @param gathered whether commits are gathered for a frame that is not written yet
   */
  public Frame latestFrame(long commits, boolean gathered) {
    return new Frame(
        latest.sequence() + (gathered ? 1 : 0),
        latest.epoch(),
        latest.writer(),
        latest.timeMillis(),
        latest.durableSequence(),
        commits,
        ByteBuffer.allocate(0));
  }

  /** Asks for a snapshot at the next occasion. */
  public void request() {
    requested = true;
    retryAtNanos = environment.nanos();
  }

  /** Remembers the frame after which the state will stand. */
  public void noteFrame(Frame frame) {
    latest = header(frame);
    bytes += frame.payload().remaining();
  }

  /** Wakes a snapshot that waits for its frame to be durable. */
  public void noteDurable() {
    Driver writing = driver;
    if (running && writing != null) {
      writing.signal();
    }
  }

  /** Gives up what waits for a frame that will never be durable. */
  public void stop() {
    stopped = true;
    noteDurable();
  }

  private long durableSequence() {
    return stopped || leftNanos() <= 0 ? Writing.STOPPED : durableSequence.getAsLong();
  }

  /** How long a snapshot may still take. */
  private long leftNanos() {
    return closing
        ? upkeep.snapshotAtClose().toNanos() - (environment.nanos() - closingSinceNanos)
        : Long.MAX_VALUE;
  }

  /**
   * Begins a snapshot when it is time for one and none is being written. One that failed is tried
   * again after a minute.
   */
  public void consider(State state, History history) {
    if (!running
        && (requested || state.commits() - commitsAtLast >= upkeep.snapshotEvery())
        && (failure == null || environment.nanos() - retryAtNanos >= 0)) {
      begin(state, history, journaling == Journaling.OPPORTUNISTIC);
    }
  }

  private void begin(State state, History history, boolean forks) {
    requested = false;
    running = true;
    long commits = state.commits();
    long journalBytes = bytes;
    Writing activity = null;
    try {
      Iterator<JournalRecord> records = SnapshotRecords.of(state.freeze(), history, forks);
      activity =
          new Writing(
              records,
              journal.snapshot(latest),
              latest.sequence(),
              this::durableSequence,
              thrown -> done(commits, journalBytes, thrown));
      driver = environment.drive("snapshot", activity);
    } catch (RuntimeException | Error e) {
      // Such as a lack of threads: the store can do without a snapshot.
      if (activity == null) {
        done(commits, journalBytes, e);
      } else {
        activity.failed(e);
      }
    }
  }

  /**
   * Called on the thread that wrote. A snapshot that fails costs only a longer start-up, and counts
   * as if it had not been begun.
   */
  private void done(long commits, long journalBytes, @Nullable Throwable thrown) {
    try {
      if (thrown == null) {
        publish(commits, journalBytes);
      } else if (leftNanos() <= 0 && !stopped) {
        LOG.info(
            "no snapshot was left at the close, {} were not enough; the next start reads the"
                + " journal",
            upkeep.snapshotAtClose());
      } else {
        fail(thrown);
      }
    } finally {
      running = false;
    }
  }

  private void publish(long commits, long journalBytes) {
    commitsAtLast = commits;
    bytesAtLast = journalBytes;
    published.incrementAndGet();
    if (failure != null) {
      failure = null;
      LOG.info("a snapshot could be written again");
    }
    try {
      journal.trim(Long.MAX_VALUE);
    } catch (JournalException e) {
      LOG.warn("old journal files could not be removed: {}", e.getMessage());
    }
  }

  /** Warns once, however often the next ones fail. */
  private void fail(Throwable thrown) {
    boolean first = failure == null;
    retryAtNanos = environment.nanos() + RETRY.toNanos();
    failure = thrown;
    if (first) {
      LOG.warn("no snapshot could be written, the next try comes later: {}", thrown.toString());
    }
  }

  /** Why the last snapshot failed; null if it did not. Safe for use by any thread. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /**
   * Waits for the snapshot that is being written, if any, and writes a last one if it is worth it;
   * gives up what takes too long. For the thread that closes the store, after the loop's end.
   */
  public void close(State state, History history) {
    if (closed) {
      return;
    }
    closed = true;
    closingSinceNanos = environment.nanos();
    closing = true;
    join();
    if (!stopped && bytes - bytesAtLast >= WORTHWHILE_BYTES && leftNanos() > 0) {
      // The epoch is closed and everything before is durable: no later epoch need expect a loss.
      begin(state, history, false);
      join();
    }
  }

  private void join() {
    Driver writing = driver;
    if (writing != null) {
      writing.join();
    }
  }

  /** Writes one snapshot beside the working store, a part at each step, and publishes it. */
  private static final class Writing implements Activity {
    /** Stands for a frame when no other will become durable, or no time is left. */
    static final long STOPPED = -1;

    private final Iterator<JournalRecord> records;
    private final Journal.SnapshotWriter writer;
    private final long sequence;
    private final LongSupplier durableSequence;
    private final Consumer<@Nullable Throwable> done;
    private final RecordWriter part = new RecordWriter();
    private boolean told;

    /**
     * A snapshot of what the journal adds up to after frame {@code sequence}.
     *
     * @param durableSequence the last frame that is durable, or {@link #STOPPED}
     * @param done called once on this activity's thread: with null when the snapshot is published,
     *     with what went wrong when it was abandoned
     */
    Writing(
        Iterator<JournalRecord> records,
        Journal.SnapshotWriter writer,
        long sequence,
        LongSupplier durableSequence,
        Consumer<@Nullable Throwable> done) {
      this.records = records;
      this.writer = writer;
      this.sequence = sequence;
      this.durableSequence = durableSequence;
      this.done = done;
    }

    @Override
    public long step() {
      try {
        long durable = durableSequence.getAsLong();
        if (durable == STOPPED) {
          throw new JournalException("the store has stopped");
        }
        if (SnapshotRecords.fill(part, records)) {
          writer.part(part.view());
          part.clear();
          return 0;
        }
        if (durable < sequence) {
          return UNTIL_SIGNALLED;
        }
        writer.publish();
      } catch (Throwable e) {
        // Errors too: until its end is reported, no other snapshot begins.
        failed(e);
        return FINISHED;
      }
      tell(null);
      return FINISHED;
    }

    @Override
    public void failed(Throwable thrown) {
      try {
        abandon(thrown);
      } finally {
        tell(thrown);
      }
    }

    private void tell(@Nullable Throwable failure) {
      if (!told) {
        told = true;
        done.accept(failure);
      }
    }

    /** What fails once may fail again when it is thrown away; recovery removes what stays. */
    private void abandon(Throwable why) {
      try {
        writer.abandon();
      } catch (RuntimeException e) {
        why.addSuppressed(e);
      }
    }
  }
}

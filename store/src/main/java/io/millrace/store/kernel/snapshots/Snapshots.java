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
 * Starts a snapshot when there have been enough commits since the last one. The loop calls this
 * between two groups, when the state is exactly that of the journal. After the end of the loop, a
 * last snapshot is written if the next start would otherwise have to read much journal.
 */
public final class Snapshots {
  private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

  /** If the journal after the last snapshot has at least this size, one is written at the close. */
  static final long WORTHWHILE_BYTES = 16 << 20;

  /** How long after a failure the next snapshot is started. */
  static final Duration RETRY = Duration.ofMinutes(1);

  private final Environment environment;
  private final Journal.Leader journal;
  private final LongSupplier durableSequence;
  private final Upkeep upkeep;
  private final Journaling journaling;
  private Frame latest;

  /** The bytes of all frames, including those that were replayed. */
  private long bytes;

  /** Those of the latest frame. */
  private long latestBytes;

  private boolean closed;

  // The position of the newest snapshot. Written by the thread of the snapshot before it ends.
  private long commitsAtLast;
  private long bytesAtLast;

  /** Why the last snapshot failed; null if it did not. */
  private volatile @Nullable Throwable failure;

  private volatile long retryAtNanos;

  private @Nullable Driver driver;
  private volatile boolean running;
  private volatile boolean requested;
  private volatile boolean stopped;

  /** Whether the store is closing, so that {@link #leftNanos} limits the snapshot. */
  private volatile boolean closing;

  private volatile long closingSinceNanos;
  private final AtomicLong published = new AtomicLong();

  /**
   * The snapshots of a store.
   *
   * @param durableSequence the last frame that is durable
   * @param opened the first frame of its epoch
   * @param replayed the amount of journal that it read when it was opened
   */
  public Snapshots(
      StoreOptions options,
      Journal.Leader journal,
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

  /** The number of snapshots published. Thread-safe. */
  public long published() {
    return published.get();
  }

  /**
   * The header that the frame of the newest commit has, or will have once it is written.
   *
   * @param sequence its number
   */
  public Frame latestFrame(long sequence, long commits) {
    return new Frame(
        sequence,
        latest.epoch(),
        latest.writer(),
        latest.timeMillis(),
        latest.durableSequence(),
        commits,
        ByteBuffer.allocate(0));
  }

  /** Requests a snapshot as soon as possible. */
  public void request() {
    requested = true;
    retryAtNanos = environment.nanos();
  }

  /** Notes the frame that has just been handed to the journal, perhaps again with more in it. */
  public void noteFrame(Frame frame) {
    boolean again = frame.sequence() == latest.sequence();
    bytes += frame.payload().remaining() - (again ? latestBytes : 0);
    latestBytes = frame.payload().remaining();
    latest = header(frame);
  }

  /** Signals a snapshot that waits until its frame is durable. */
  public void noteDurable() {
    Driver writing = driver;
    if (running && writing != null) {
      writing.signal();
    }
  }

  /** Abandons a snapshot whose frame will never be durable. */
  public void stop() {
    stopped = true;
    noteDurable();
  }

  private long durableSequence() {
    return stopped || leftNanos() <= 0 ? Writing.STOPPED : durableSequence.getAsLong();
  }

  /** The time left for a snapshot. */
  private long leftNanos() {
    return closing
        ? upkeep.snapshotAtClose().toNanos() - (environment.nanos() - closingSinceNanos)
        : Long.MAX_VALUE;
  }

  /**
   * Starts a snapshot of the state after the latest frame if it is due and none is being written.
   * After a failure, the next one is started after a minute.
   *
   * @return whether it was started, so that this frame must stay as it is
   */
  public boolean consider(State state, History history) {
    boolean due =
        !running
            && (requested || state.commits() - commitsAtLast >= upkeep.snapshotEvery())
            && (failure == null || environment.nanos() - retryAtNanos >= 0);
    if (due) {
      begin(state, history, journaling == Journaling.OPPORTUNISTIC);
    }
    return due;
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
              journal,
              latest,
              this::durableSequence,
              thrown -> done(commits, journalBytes, thrown));
      driver = environment.drive("snapshot", activity);
    } catch (RuntimeException | Error e) {
      // For example no more threads: the store can continue without a snapshot.
      if (activity == null) {
        done(commits, journalBytes, e);
      } else {
        activity.failed(e);
      }
    }
  }

  /** Called on the thread of the snapshot. A failed snapshot only makes the next start slower. */
  private void done(long commits, long journalBytes, @Nullable Throwable thrown) {
    try {
      if (thrown == null) {
        publish(commits, journalBytes);
      } else if (leftNanos() <= 0 && !stopped) {
        LOG.info(
            "the snapshot at close was not finished within {}; the next start reads the journal"
                + " instead",
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
      LOG.info("snapshots can be written again");
    }
    try {
      journal.trim(Long.MAX_VALUE);
    } catch (JournalException e) {
      LOG.warn("old journal files could not be removed: {}", e.getMessage());
    }
  }

  /** Logs a warning for the first failure only. */
  private void fail(Throwable thrown) {
    boolean first = failure == null;
    retryAtNanos = environment.nanos() + RETRY.toNanos();
    failure = thrown;
    if (first) {
      LOG.warn("a snapshot could not be written and will be tried again: {}", thrown.toString());
    }
  }

  /** Why the last snapshot failed; null if it did not. Thread-safe. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /**
   * Waits for the snapshot that is being written, if any, and writes a last one if that is
   * worthwhile; abandons it if it takes too long. Called by the closing thread after the end of the
   * loop.
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
      // The epoch is closed and everything in it is durable, so no commit can have been lost.
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

  /** Writes one snapshot while the store works, one part in each step, and publishes it. */
  private static final class Writing implements Activity {
    /** In place of the last durable frame: the snapshot must be abandoned. */
    static final long STOPPED = -1;

    private final Iterator<JournalRecord> records;
    private final Journal.Leader journal;
    private final Frame frame;
    private final LongSupplier durableSequence;
    private final Consumer<@Nullable Throwable> done;
    private final RecordWriter part = new RecordWriter();
    private Journal.@Nullable SnapshotWriter writer;
    private boolean told;

    /**
     * A snapshot of the state after {@code frame}.
     *
     * @param durableSequence the last frame that is durable, or {@link #STOPPED}
     * @param done called once, on the thread of this activity: with null if the snapshot was
     *     published, with the cause if it was abandoned
     */
    Writing(
        Iterator<JournalRecord> records,
        Journal.Leader journal,
        Frame frame,
        LongSupplier durableSequence,
        Consumer<@Nullable Throwable> done) {
      this.records = records;
      this.journal = journal;
      this.frame = frame;
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
        Journal.SnapshotWriter open = writer;
        if (open == null) {
          // On this thread, because it may have to wait for a disk or a network.
          open = journal.snapshot(frame);
          writer = open;
        }
        if (SnapshotRecords.fill(part, records)) {
          open.part(part.view());
          part.clear();
          return 0;
        }
        if (durable < frame.sequence()) {
          return UNTIL_SIGNALLED;
        }
        open.publish();
      } catch (Throwable e) {
        // Errors too: no other snapshot is started until the end of this one is reported.
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

    /** Abandons the file. If that fails too, recovery removes it. */
    private void abandon(Throwable why) {
      try {
        if (writer != null) {
          writer.abandon();
        }
      } catch (RuntimeException e) {
        why.addSuppressed(e);
      }
    }
  }
}

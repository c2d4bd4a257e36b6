package io.millrace.store.kernel;

import io.millrace.store.Journaling;
import io.millrace.store.StoreOptions;
import io.millrace.store.Upkeep;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins a snapshot when enough commits have come since the last one. The loop calls it between two
 * groups, when the state is just what the journal adds up to. Once the loop has ended, it writes a
 * last one if the next start would have much to read.
 */
final class Snapshots {
  private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

  /** So many bytes of journal after the last snapshot are worth one at the close: 16 MiB. */
  static final long WORTHWHILE_BYTES = 16 << 20;

  private final Environment environment;
  private final Journal journal;
  private final JournalFeed feed;
  private final Upkeep upkeep;
  private final Journaling journaling;
  private Frame latest;
  private long begunAt;
  private long bytesSince;
  private boolean closed;
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
   * @param recovered what it opened with
   */
  Snapshots(
      StoreOptions options, Journal journal, JournalFeed feed, Frame opened, Recovered recovered) {
    this.environment = options.environment();
    this.journal = journal;
    this.feed = feed;
    this.upkeep = options.upkeep();
    this.journaling = options.journaling();
    this.latest = header(opened);
    this.begunAt = recovered.replayed().snapshotAt();
    this.bytesSince = recovered.replayed().bytes();
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

  long published() {
    return published.get();
  }

  /** The header of the frame that ends with the newest commit, once it is written. */
  Frame latestFrame(long commits) {
    boolean gathered = feed.isGathering();
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
  void request() {
    requested = true;
  }

  /** Remembers the frame after which the state will stand. */
  void noteFrame(Frame frame) {
    latest = header(frame);
    bytesSince += frame.payload().remaining();
  }

  /** Wakes a snapshot that waits for its frame to be durable. */
  void noteDurable() {
    Driver writing = driver;
    if (running && writing != null) {
      writing.signal();
    }
  }

  /** Gives up what waits for a frame that will never be durable. */
  void stop() {
    stopped = true;
    noteDurable();
  }

  private long durableSequence() {
    return stopped || leftNanos() <= 0 ? SnapshotActivity.STOPPED : feed.durableSequence();
  }

  /** How long a snapshot may still take. */
  private long leftNanos() {
    return closing
        ? upkeep.snapshotAtClose().toNanos() - (environment.nanos() - closingSinceNanos)
        : Long.MAX_VALUE;
  }

  /** Begins a snapshot where it is time for one and none is being written. */
  void consider(State state, History history) {
    if (!running && (requested || state.commits() - begunAt >= upkeep.snapshotEvery())) {
      begin(state, history, journaling == Journaling.OPPORTUNISTIC);
    }
  }

  private void begin(State state, History history, boolean forks) {
    requested = false;
    running = true;
    begunAt = state.commits();
    bytesSince = 0;
    try {
      SnapshotActivity activity =
          new SnapshotActivity(
              SnapshotRecords.of(state.freeze(), history, forks),
              journal.snapshot(latest),
              latest.sequence(),
              this::durableSequence,
              this::done);
      driver = environment.drive("snapshot", activity);
    } catch (JournalException e) {
      done(e);
    }
  }

  /** Called on the thread that wrote. A snapshot that fails costs only a longer start-up. */
  private void done(@Nullable Throwable failure) {
    if (failure != null && leftNanos() <= 0 && !stopped) {
      LOG.info(
          "no snapshot was left at the close, {} were not enough; the next start reads the journal",
          upkeep.snapshotAtClose());
    } else if (failure != null) {
      LOG.warn("no snapshot could be written: {}", failure.getMessage());
    } else {
      published.incrementAndGet();
      try {
        journal.trim(Long.MAX_VALUE);
      } catch (JournalException e) {
        LOG.warn("old journal files could not be removed: {}", e.getMessage());
      }
    }
    running = false;
  }

  /**
   * Waits for the snapshot that is being written, if any, and writes a last one where it is worth
   * it; gives up what takes too long. For the thread that closes the store, after the loop's end.
   */
  void close(State state, History history) {
    if (closed) {
      return;
    }
    closed = true;
    closingSinceNanos = environment.nanos();
    closing = true;
    join();
    if (!stopped && bytesSince >= WORTHWHILE_BYTES && leftNanos() > 0) {
      // The reign is closed, everything before is durable: no later reign need fear a loss.
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
}

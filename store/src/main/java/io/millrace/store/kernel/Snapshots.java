package io.millrace.store.kernel;

import io.millrace.store.Journaling;
import io.millrace.store.StoreOptions;
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
 * groups, when the state is just what the journal adds up to.
 */
final class Snapshots {
  private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

  private final Environment environment;
  private final Journal journal;
  private final JournalFeed feed;
  private final long every;
  private final Journaling journaling;
  private Frame latest;
  private long begunAt;
  private @Nullable Driver driver;
  private volatile boolean running;
  private volatile boolean requested;
  private volatile boolean stopped;
  private final AtomicLong published = new AtomicLong();

  /**
   * For a store that opened with frame {@code opened}.
   *
   * @param snapshotAt how many commits the newest snapshot holds, 0 for none
   */
  Snapshots(
      StoreOptions options, Journal journal, JournalFeed feed, Frame opened, long snapshotAt) {
    this.environment = options.environment();
    this.journal = journal;
    this.feed = feed;
    this.every = options.snapshotEvery();
    this.journaling = options.journaling();
    this.latest = header(opened);
    this.begunAt = snapshotAt;
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
    return stopped ? SnapshotActivity.STOPPED : feed.durableSequence();
  }

  /** Begins a snapshot where it is time for one and none is being written. */
  void consider(State state, History history) {
    if (running || (!requested && state.commits() - begunAt < every)) {
      return;
    }
    requested = false;
    running = true;
    begunAt = state.commits();
    try {
      SnapshotActivity activity =
          new SnapshotActivity(
              SnapshotRecords.of(state.freeze(), history, journaling == Journaling.OPPORTUNISTIC),
              journal.snapshot(latest),
              latest.sequence(),
              this::durableSequence,
              this::done);
      driver = environment.drive("snapshot", activity);
    } catch (JournalException e) {
      done(e);
    }
  }

  /** How far the journal is durable; fails where it will never come any further. */
  private long durableSequence() {
    if (feed.failure() != null) {
      throw new JournalException("the journal failed before the snapshot's frame was on disk");
    }
    return feed.durableSequence();
  }

  /** Called on the thread that wrote. A snapshot that fails costs only a longer start-up. */
  private void done(@Nullable Throwable failure) {
    if (failure != null) {
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

  /** Waits for the snapshot that is being written, if any. */
  void join() {
    Driver writing = driver;
    if (writing != null) {
      writing.signal(); // it may wait for a frame that a failed journal will never make durable
      writing.join();
    }
  }
}

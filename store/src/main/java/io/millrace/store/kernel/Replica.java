package io.millrace.store.kernel;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Position;
import io.millrace.store.StandbyStore.TooStaleException;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.DurationText;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.kernel.records.History;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import io.millrace.store.kernel.recovery.Replayer;
import io.millrace.store.kernel.snapshots.Snapshots;
import io.millrace.store.kernel.state.State;
import io.millrace.store.kernel.subscriptions.Broadcast;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of a store that follows its journal, until it is promoted to lead it:
 *
 * <pre>
 *   follow, follow, ... --promote: the rest of the journal, a new epoch, the loop--> EmbeddedStore
 * </pre>
 *
 * For use by one thread, except for reads. After a failure of {@link #promote}, it cannot be used
 * any more.
 */
public final class Replica {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedStore.class);

  private final StoreOptions options;
  private final Journal journal;
  private final Replayer replayer;

  /** Held while the state is changed or read. */
  private final Object lock = new Object();

  /** Passes everything on, and counts what is delivered before the journal fails. */
  private final Journal.Replay counted =
      new Journal.Replay() {
        @Override
        public Runnable snapshotPart(ByteBuffer payload) {
          Runnable part = replayer.snapshotPart(payload);
          return () -> {
            synchronized (lock) {
              part.run();
            }
          };
        }

        @Override
        public void reset() {
          delivered = 0;
          synchronized (lock) {
            confirmed = null;
            replayer.reset();
          }
        }

        @Override
        public void frame(Frame frame) {
          synchronized (lock) {
            Moment before = confirmed;
            // It stays so if the frame fails in the middle.
            confirmed = null;
            replayer.frame(frame);
            confirmed = before;
          }
          delivered = frame.sequence();
        }
      };

  /** The last frame that was delivered; 0 for none, or for a part of a snapshot. */
  private long delivered;

  /** When the read of the journal that is under way began; for the thread that follows. */
  private Moment began;

  /**
   * When the last read began that has come to the journal's end: the state has all that was durable
   * then. Null while it is not whole, and once it is promoted. Guarded by the lock.
   */
  private @Nullable Moment confirmed;

  /** The store time of reads; null before the first. Guarded by the lock. */
  private @Nullable StoreClock clock;

  /** A replica that has read nothing yet. */
  public Replica(StoreOptions options, Journal journal) {
    this(options, journal, State.NODE_CAPACITY);
  }

  /** The same with another size of tree nodes; see {@link StoreStarter#open}. */
  Replica(StoreOptions options, Journal journal, int nodeCapacity) {
    this.options = options;
    this.journal = journal;
    this.replayer = new Replayer(nodeCapacity);
    this.began = Moment.now(options.environment());
  }

  /** A moment by both clocks of this machine. */
  private record Moment(long nanos, long wallMillis) {
    /** By how much the clocks may disagree, besides a tenth, before it counts. */
    private static final long SLACK_NANOS = 20_000_000;

    /** An age that nobody knows. */
    static final long UNKNOWN = Long.MAX_VALUE;

    static Moment now(Environment environment) {
      return new Moment(environment.nanos(), environment.wallMillis());
    }

    /**
     * The nanoseconds from then to {@code now}. The monotonic clock stands still while a machine is
     * suspended, and the wall clock may be set meanwhile: if they disagree, nobody knows.
     */
    long ageNanos(Moment now) {
      long byNanos = now.nanos - nanos;
      long byWall = Math.multiplyExact(now.wallMillis - wallMillis, 1_000_000);
      return Math.abs(byWall - byNanos) > byNanos / 10 + SLACK_NANOS
          ? UNKNOWN
          : Math.max(byNanos, byWall);
    }
  }

  /**
   * The result of a read.
   *
   * @param ageNanos how long ago the state had all that was durable: the read may lack only what
   *     came later
   */
  record Aged<T>(TaskStore.Read<T> read, long ageNanos) {}

  /**
   * Applies what is durable and has not been applied yet.
   *
   * @return the last frame that has been applied, 0 for none
   * @throws io.millrace.store.journal.JournalException if the journal cannot be read; the next call
   *     goes on from there
   */
  public long follow() {
    begin();
    delivered = journal.follow(counted, delivered);
    synchronized (lock) {
      confirmed = began;
    }
    return delivered;
  }

  /** Notes that a read of the journal begins. What becomes durable from now on it may miss. */
  private void begin() {
    began = Moment.now(options.environment());
  }

  /**
   * Reads the state, if it is young enough. Called by any thread. What comes by time alone is as of
   * a store time that begins and advances here as it would if this replica were promoted.
   *
   * @param bound the greatest age
   * @param after a position that it must have; null for none
   * @throws TooStaleException if it is older, lacks the position, or does not follow
   */
  <T> Aged<T> read(Duration bound, @Nullable Position after, Function<State, T> question) {
    synchronized (lock) {
      History history = replayer.history();
      if (confirmed == null || history == null) {
        throw new TooStaleException("this server does not follow the store at the moment");
      }
      State state = replayer.state();
      Position position = new Position(history.id(), state.commits());
      if (after != null
          && !(after.number() <= position.number()
              && history.includes(after.history(), after.number()))) {
        throw new TooStaleException(
            "this server is at position " + position + " and does not have " + after);
      }
      Environment environment = options.environment();
      long ageNanos = confirmed.ageNanos(Moment.now(environment));
      if (ageNanos > bound.toNanos()) {
        if (ageNanos == Moment.UNKNOWN) {
          // The clocks may agree again by chance before the next read of the journal.
          confirmed = null;
        }
        throw new TooStaleException(
            "this server has not read the store to its end for " + DurationText.show(bound));
      }
      if (clock == null || clock.millis() < state.timeMillis()) {
        clock = new StoreClock(environment, state.timeMillis());
      }
      long nowMillis = Math.max(clock.millis(), state.timeMillis());
      boolean _ = state.advance(nowMillis);
      T value = question.apply(state);
      return new Aged<>(new TaskStore.Read<>(position, nowMillis, value), ageNanos);
    }
  }

  /** The last commit that has been applied; null for none. */
  @Nullable Position position() {
    History history = replayer.history();
    return history == null ? null : new Position(history.id(), replayer.state().commits());
  }

  /**
   * Leads the journal: applies the rest, records a new epoch, and starts the loop. The store closes
   * the journal when it is closed.
   *
   * @throws io.millrace.store.journal.JournalException if another one leads, or the journal cannot
   *     be read and written
   */
  public EmbeddedStore promote() {
    return promote(null);
  }

  /**
   * The same for a leader that announces an address.
   *
   * @param address see {@link Journal.Leader#announce}; null for none
   */
  EmbeddedStore promote(@Nullable String address) {
    Environment environment = options.environment();
    synchronized (lock) {
      // From now on the state belongs to the loop.
      confirmed = null;
    }
    Journal.Leader leader = journal.lead(counted, delivered);
    if (address != null) {
      leader.announce(address);
    }
    Replayer.Recovered recovered = replayer.recovered(environment, leader.tail());
    Journal.Tail tail = recovered.tail();
    if (tail.notice() != null) {
      LOG.warn("recovery: {}; docs/journal-damage.md says what this means", tail.notice());
    }
    if (tail.cuts() > 0) {
      LOG.warn(
          "commits after {} may be missing: the store continues under a new history, so that no id"
              + " is given twice and positions after that commit are refused",
          tail.position());
    }
    StoreClock clock = new StoreClock(environment, recovered.timeMillis());
    warnOfTime(clock);
    Frame opened = beginEpoch(leader, recovered, clock.millis());
    JournalFeed feed =
        new JournalFeed(
            leader,
            opened.epoch(),
            opened.writer(),
            opened.sequence(),
            recovered.state().commits());
    Broadcast broadcast = new Broadcast(recovered.state().commits(), options.limits());
    Snapshots snapshots =
        new Snapshots(options, leader, feed::durableSequence, opened, recovered.replayed());
    Mailbox mailbox =
        new Mailbox(options.limits().queuedCommands(), options.limits().queuedBytes());
    CommitPipeline pipeline = new CommitPipeline(options.journaling(), feed, broadcast, snapshots);
    StoreLoop loop = new StoreLoop(options, recovered, clock, mailbox, pipeline);
    Driver driver = environment.drive("store", loop);
    feed.bell(driver);
    return new EmbeddedStore(options, journal, leader, mailbox, loop, driver);
  }

  private void warnOfTime(StoreClock clock) {
    long ahead = clock.aheadMillis();
    if (ahead > EmbeddedTaskStore.TIME_MARGIN.toMillis()) {
      LOG.warn(
          "store time is {} ahead of this machine's clock ({}), because the journal in {} was"
              + " written with a clock that was ahead; store time never goes back, so absolute"
              + " times come early by that much until the clock has caught up; see docs/api.md,"
              + " \"Store time\"",
          DurationText.about(Duration.ofMillis(ahead)),
          Instant.ofEpochMilli(clock.millis() - ahead),
          options.folder());
    }
  }

  /** Begins an epoch. Its first record must be durable before any command is accepted. */
  private Frame beginEpoch(Journal.Leader leader, Replayer.Recovered recovered, long nowMillis) {
    Journal.Tail tail = recovered.tail();
    RecordWriter out = new RecordWriter();
    long epoch = tail.epoch() + 1;
    Records.write(out, new JournalRecord.Opened(epoch, options.journaling(), recovered.history()));
    Frame frame =
        new Frame(
            tail.sequence() + 1,
            epoch,
            options.environment().newRandom().nextLong(),
            nowMillis,
            tail.sequence(),
            recovered.state().commits(),
            out.view());
    EmbeddedStore.await(options.environment(), leader.append(frame));
    return frame;
  }
}

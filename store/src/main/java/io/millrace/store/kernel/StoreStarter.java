package io.millrace.store.kernel;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import io.millrace.store.kernel.recovery.Replayer;
import io.millrace.store.kernel.snapshots.Backups;
import io.millrace.store.kernel.snapshots.Snapshots;
import io.millrace.store.kernel.state.State;
import io.millrace.store.kernel.subscriptions.Broadcast;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts a store: replays the journal, records a new epoch, and starts the loop. */
public final class StoreStarter {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedStore.class);

  private StoreStarter() {}

  /** Opens a store with files; see {@link TaskStore#open(StoreOptions)}. */
  public static EmbeddedStore open(StoreOptions options) {
    Journal journal =
        FileJournal.open(
            options.environment(),
            options.folder(),
            FileJournalOptions.DEFAULTS
                .withRetention(options.upkeep().retention())
                .withReserveBytes(options.upkeep().diskReserveBytes()));
    try {
      return open(options, journal, State.NODE_CAPACITY);
    } catch (RuntimeException | Error e) {
      journal.close();
      throw e;
    }
  }

  /** Opens a store with any journal; see {@link TaskStore#open(StoreOptions, Journal)}. */
  public static EmbeddedStore open(StoreOptions options, Journal journal) {
    return open(options, journal, State.NODE_CAPACITY);
  }

  /** Creates a store from a backup; see {@link TaskStore#restore}. */
  public static long restore(Environment environment, Path folder, InputStream backup) {
    return Backups.restore(environment, folder, backup);
  }

  /**
   * Opens a store with any journal and another size of tree nodes. With small nodes, trees split
   * and join with a few dozen tasks instead of thousands, which simulations use.
   *
   * @param nodeCapacity the largest number of elements of a node, at least 4; normally 64
   * @throws IllegalArgumentException if {@code nodeCapacity} is smaller
   */
  public static EmbeddedStore open(StoreOptions options, Journal journal, int nodeCapacity) {
    Environment environment = options.environment();
    Replayer.Recovered recovered = Replayer.recover(environment, journal, nodeCapacity);
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
    warnOfTime(clock, options);
    Frame opened = beginEpoch(options, journal, recovered, clock.millis());
    JournalFeed feed =
        new JournalFeed(
            journal,
            opened.epoch(),
            opened.writer(),
            opened.sequence(),
            recovered.state().commits());
    Broadcast broadcast = new Broadcast(recovered.state().commits(), options.limits());
    Snapshots snapshots =
        new Snapshots(options, journal, feed::durableSequence, opened, recovered.replayed());
    Mailbox mailbox =
        new Mailbox(options.limits().queuedCommands(), options.limits().queuedBytes());
    CommitPipeline pipeline = new CommitPipeline(options.journaling(), feed, broadcast, snapshots);
    StoreLoop loop = new StoreLoop(options, recovered, clock, mailbox, pipeline);
    Driver driver = environment.drive("store", loop);
    feed.bell(driver);
    return new EmbeddedStore(options, journal, mailbox, loop, driver);
  }

  private static void warnOfTime(StoreClock clock, StoreOptions options) {
    long ahead = clock.aheadMillis();
    if (ahead > EmbeddedTaskStore.TIME_MARGIN.toMillis()) {
      LOG.warn(
          "store time is {} ahead of this machine's clock ({}), because the journal in {} was"
              + " written with a clock that was ahead; store time never goes back, so absolute"
              + " times come early by that much until the clock has caught up; see docs/api.md,"
              + " \"Store time\"",
          Duration.ofMillis(ahead),
          Instant.ofEpochMilli(clock.millis() - ahead),
          options.folder());
    }
  }

  /** Begins an epoch. Its first record must be durable before any command is accepted. */
  private static Frame beginEpoch(
      StoreOptions options, Journal journal, Replayer.Recovered recovered, long nowMillis) {
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
    EmbeddedStore.await(options.environment(), journal.append(frame));
    return frame;
  }
}

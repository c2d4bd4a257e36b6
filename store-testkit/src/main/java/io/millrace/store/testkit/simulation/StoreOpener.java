package io.millrace.store.testkit.simulation;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.StoreStarter;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Opens a store with random options, limits and journal, chosen once. */
final class StoreOpener {
  private static final int SMALL_SEGMENTS = 1 << 16;
  private static final int MAX_PAYLOAD = 1 << 24;

  private final SimulatedEnvironment environment;
  private final LongSupplier settled;
  private final FileJournalOptions journalOptions;
  private final int nodeCapacity;
  private StoreOptions options;

  /** With a supplier of the number of the last commit that is not read again. */
  StoreOpener(
      SimulatedEnvironment environment,
      RandomGenerator random,
      Limits limits,
      LongSupplier settled) {
    this.environment = environment;
    this.settled = settled;
    options =
        StoreOptions.in(Path.of("data/store"))
            .withEnvironment(environment)
            .withJournaling(random.nextInt(4) == 0 ? Journaling.OPPORTUNISTIC : Journaling.STRICT)
            .withSnapshotEvery(random.nextInt(5, 300))
            .withLimits(limits);
    Retention retention =
        random.nextBoolean()
            ? Retention.NONE
            : new Retention(
                random.nextInt(20) * (long) SMALL_SEGMENTS,
                Duration.ofSeconds(random.nextInt(10_000)));
    journalOptions = new FileJournalOptions(SMALL_SEGMENTS, MAX_PAYLOAD, retention);
    nodeCapacity = random.nextInt(4, 13);
  }

  /** The default limits, or small ones. */
  static Limits limits(RandomGenerator random) {
    Limits usual = Limits.defaults();
    if (random.nextBoolean()) {
      return usual;
    }
    return new Limits(
        random.nextInt(6, 20),
        random.nextInt(1_000, 40_000),
        usual.dataBytes(),
        usual.nameBytes(),
        usual.requestIdBytes(),
        random.nextInt(1, 6),
        random.nextInt(1, 4),
        random.nextInt(1, 5),
        random.nextInt(3, 8),
        random.nextBoolean() ? usual.subscriberLag() : random.nextInt(1, 50),
        random.nextBoolean() ? usual.subscriberLagBytes() : random.nextInt(500, 20_000),
        usual.queuedCommands(),
        usual.queuedBytes(),
        random.nextInt(500, 20_000),
        random.nextBoolean() ? usual.memoryBytes() : random.nextLong(8_000, 60_000));
  }

  /** Opens the store. */
  EmbeddedTaskStore open() {
    return open(options.folder());
  }

  /** Opens a store in another folder. */
  EmbeddedTaskStore open(Path folder) {
    Journal journal = new RetainingJournal(FileJournal.open(environment, folder, journalOptions));
    try {
      return StoreStarter.open(options.withFolder(folder), journal, nodeCapacity);
    } catch (RuntimeException | Error e) {
      journal.close();
      throw e;
    }
  }

  /** Uses another folder from now on. */
  void moveTo(Path folder) {
    options = options.withFolder(folder);
  }

  /** Whether answers are durable. */
  boolean isStrict() {
    return options.journaling() == Journaling.STRICT;
  }

  /** Simulates another process that tries to open the folder twice. It must be refused. */
  void intrude() {
    for (int i = 0; i < 2; i++) {
      FileJournal second;
      try {
        second = FileJournal.open(environment, options.folder(), journalOptions);
      } catch (JournalException e) {
        if (!String.valueOf(e.getMessage()).contains("is in use")) {
          throw e;
        }
        continue;
      }
      second.close();
      throw new SimulationFailure("two processes have the folder open at once");
    }
  }

  /** A journal that does not trim commits that are not settled. */
  private final class RetainingJournal implements Journal, Journal.Leader {
    private final Journal journal;
    private @Nullable Leader leader;

    RetainingJournal(Journal journal) {
      this.journal = journal;
    }

    @Override
    public void trim(long keepAfterPosition) {
      leader().trim(Math.min(keepAfterPosition, settled.getAsLong()));
    }

    @Override
    public long follow(Replay replay, long after) {
      return journal.follow(replay, after);
    }

    @Override
    public Leader lead(Replay replay, long after) {
      leader = journal.lead(replay, after);
      return this;
    }

    @Override
    public Tail tail() {
      return leader().tail();
    }

    private Leader leader() {
      return Objects.requireNonNull(leader);
    }

    @Override
    public CompletableFuture<Void> append(Frame frame) {
      return leader().append(frame);
    }

    @Override
    public SnapshotWriter snapshot(Frame frame) {
      return leader().snapshot(frame);
    }

    @Override
    public @Nullable Reader read(long position) {
      return leader().read(position);
    }

    @Override
    public @Nullable Shortage shortage() {
      return leader().shortage();
    }

    @Override
    public long freeBytes() {
      return leader().freeBytes();
    }

    @Override
    public void close() {
      journal.close();
    }
  }
}

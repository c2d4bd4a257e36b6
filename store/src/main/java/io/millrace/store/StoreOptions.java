package io.millrace.store;

import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Retention;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How to open a store in this process.
 *
 * @param folder the folder of its files; created if it is absent, and locked while open
 * @param journaling when it answers; strict by default
 * @param upkeep when it writes snapshots, and how much journal it keeps
 * @param limits what it refuses
 * @param environment its clocks, randomness, disk and threads; this machine's by default
 */
public record StoreOptions(
    Path folder, Journaling journaling, Upkeep upkeep, Limits limits, Environment environment) {

  /** A strict store with the defaults. */
  public static StoreOptions in(Path folder) {
    return new StoreOptions(
        folder, Journaling.STRICT, Upkeep.DEFAULTS, Limits.defaults(), Environment.system());
  }

  /** The same in another folder. */
  public StoreOptions withFolder(Path folder) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }

  /** The same with other journaling. */
  public StoreOptions withJournaling(Journaling journaling) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }

  /** The same with a snapshot after this many commits. */
  public StoreOptions withSnapshotEvery(long commits) {
    return withUpkeep(upkeep.withSnapshotEvery(commits));
  }

  /** The same with other upkeep. */
  public StoreOptions withUpkeep(Upkeep upkeep) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }

  /** The same with other limits. */
  public StoreOptions withLimits(Limits limits) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }

  /** The same in another environment. */
  public StoreOptions withEnvironment(Environment environment) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }

  /** When a store answers. */
  public enum Journaling {
    /** Only once everything that the answer rests on is on disk. */
    STRICT,
    /**
     * At once; the disk follows. A crash may lose the newest commits: at most what was handed over
     * within one sync of the disk, and never more than {@link Limits#unsyncedBytes}, beyond which
     * answers wait.
     */
    OPPORTUNISTIC
  }

  /**
   * How a store keeps its folder in order.
   *
   * @param snapshotEvery after how many commits a new snapshot is begun; default 1,000,000
   * @param snapshotAtClose how long a snapshot may take that is written when the store closes, if
   *     the next start would have to read much journal; zero for no such snapshot; default 10
   *     seconds
   * @param retention how much of the journal is kept for subscribers; by default up to 1 GiB in
   *     all, of the last seven days
   * @param diskReserveBytes how much of the disk the journal leaves free for others, 0 or more; if
   *     a new segment would take it, growth is refused as full until there is room. Default 64 MiB
   */
  public record Upkeep(
      long snapshotEvery, Duration snapshotAtClose, Retention retention, long diskReserveBytes) {
    /** The defaults. */
    public static final Upkeep DEFAULTS =
        new Upkeep(1_000_000, Duration.ofSeconds(10), Retention.DEFAULTS, 64 << 20);

    /** Refuses values that make no sense with {@link IllegalArgumentException}. */
    public Upkeep {
      if (snapshotEvery < 1) {
        throw new IllegalArgumentException(
            "snapshotEvery must be at least 1, not " + snapshotEvery);
      }
      if (snapshotAtClose.isNegative()) {
        throw new IllegalArgumentException("snapshotAtClose is negative: " + snapshotAtClose);
      }
      if (diskReserveBytes < 0) {
        throw new IllegalArgumentException("diskReserveBytes is negative: " + diskReserveBytes);
      }
    }

    /** With the default reserve of the disk. */
    public Upkeep(long snapshotEvery, Duration snapshotAtClose, Retention retention) {
      this(snapshotEvery, snapshotAtClose, retention, 64 << 20);
    }

    /** The same with a snapshot after this many commits. */
    public Upkeep withSnapshotEvery(long commits) {
      return new Upkeep(commits, snapshotAtClose, retention, diskReserveBytes);
    }

    /** The same with so long for a snapshot at the close. */
    public Upkeep withSnapshotAtClose(Duration longest) {
      return new Upkeep(snapshotEvery, longest, retention, diskReserveBytes);
    }

    /** The same with so much journal kept. */
    public Upkeep withRetention(Retention retention) {
      return new Upkeep(snapshotEvery, snapshotAtClose, retention, diskReserveBytes);
    }

    /** The same with so much of the disk left free. */
    public Upkeep withDiskReserveBytes(long bytes) {
      return new Upkeep(snapshotEvery, snapshotAtClose, retention, bytes);
    }
  }

  /**
   * What a store refuses, so that no client can hurt the others.
   *
   * @param operations the most parts of one transaction and references of one read; default 10,000
   * @param transactionBytes the most bytes of data, documents and names in one transaction; default
   *     16 MiB
   * @param dataBytes the most bytes of one task's data or one document's body; default 1 MiB
   * @param nameBytes the most bytes of UTF-8 of a group, collection, key or local name; default 512
   * @param requestIdBytes the most bytes of UTF-8 of a request id; default 128
   * @param claimCount the most tasks of one claim; default 1,000
   * @param claimGroups the most groups of one claim; default 100
   * @param waitingClaims the most claims that wait at a time; default 10,000
   * @param subscribers the most subscriptions open at a time; default 1,000
   * @param subscriberLag the most commits that are kept in memory for a subscriber that is behind;
   *     a subscriber further behind goes on from the journal, see {@link Subscription}; default
   *     100,000
   * @param subscriberLagBytes the most bytes that those commits may take, by the store's own
   *     estimate; default a sixteenth of the largest heap, at most 64 MiB
   * @param queuedCommands the most commands and reads that wait for the store's thread, at least 1;
   *     beyond it callers get a {@link StoreBusyException}; default 100,000
   * @param queuedBytes the most bytes that those may take, by the store's own estimate; one command
   *     alone may take more; default a sixteenth of the largest heap, at most 64 MiB
   * @param unsyncedBytes the most bytes of journal that are not on disk; beyond it new commands
   *     wait; default 64 MiB
   * @param memoryBytes what tasks, documents and remembered requests may take, by the store's own
   *     estimate; growth beyond is refused as full; default 60 % of the largest heap
   */
  public record Limits(
      int operations,
      int transactionBytes,
      int dataBytes,
      int nameBytes,
      int requestIdBytes,
      int claimCount,
      int claimGroups,
      int waitingClaims,
      int subscribers,
      int subscriberLag,
      long subscriberLagBytes,
      int queuedCommands,
      long queuedBytes,
      long unsyncedBytes,
      long memoryBytes) {

    /** The largest number that JSON carries exactly everywhere: the limit of ids and times. */
    public static final long LARGEST_NUMBER = (1L << 53) - 1;

    /** The defaults. */
    public static Limits defaults() {
      long sixteenth = Math.min(64L << 20, Runtime.getRuntime().maxMemory() / 16);
      return new Limits(
          10_000,
          16 << 20,
          1 << 20,
          512,
          128,
          1_000,
          100,
          10_000,
          1_000,
          100_000,
          sixteenth,
          100_000,
          sixteenth,
          64L << 20,
          Runtime.getRuntime().maxMemory() / 10 * 6);
    }

    /** The same with another memory budget. */
    public Limits withMemoryBytes(long memoryBytes) {
      return with(subscriberLag, subscriberLagBytes, queuedCommands, queuedBytes, memoryBytes);
    }

    /** The same with other bounds of what is kept for a subscriber that is behind. */
    public Limits withSubscriberLag(int commits, long bytes) {
      return with(commits, bytes, queuedCommands, queuedBytes, memoryBytes);
    }

    /** The same with other bounds of what waits for the store's thread. */
    public Limits withQueued(int commands, long bytes) {
      return with(subscriberLag, subscriberLagBytes, commands, bytes, memoryBytes);
    }

    private Limits with(
        int lag, long lagBytes, int commands, long commandBytes, long memoryBudgetBytes) {
      return new Limits(
          operations,
          transactionBytes,
          dataBytes,
          nameBytes,
          requestIdBytes,
          claimCount,
          claimGroups,
          waitingClaims,
          subscribers,
          lag,
          lagBytes,
          commands,
          commandBytes,
          unsyncedBytes,
          memoryBudgetBytes);
    }
  }
}

package io.millrace.store;

import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Retention;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The options of a store in this process.
 *
 * @param folder the folder of its files; created if it is absent, and locked while the store is
 *     open
 * @param journaling whether answers wait for the disk; strict by default
 * @param upkeep when it writes snapshots, and how much journal it keeps
 * @param limits its limits
 * @param ids the ids that it gives; all by default
 * @param environment its clocks, randomness, disk and threads; those of this machine by default
 */
public record StoreOptions(
    Path folder,
    Journaling journaling,
    Upkeep upkeep,
    Limits limits,
    Ids ids,
    Environment environment) {

  /** The default options for a folder. */
  public static StoreOptions in(Path folder) {
    return new StoreOptions(
        folder,
        Journaling.STRICT,
        Upkeep.DEFAULTS,
        Limits.defaults(),
        Ids.ALL,
        Environment.system());
  }

  /** The same options with another folder. */
  public StoreOptions withFolder(Path folder) {
    return new StoreOptions(folder, journaling, upkeep, limits, ids, environment);
  }

  /** The same options with other journaling. */
  public StoreOptions withJournaling(Journaling journaling) {
    return new StoreOptions(folder, journaling, upkeep, limits, ids, environment);
  }

  /** The same options with a snapshot after this many commits. */
  public StoreOptions withSnapshotEvery(long commits) {
    return withUpkeep(upkeep.withSnapshotEvery(commits));
  }

  /** The same options with other upkeep. */
  public StoreOptions withUpkeep(Upkeep upkeep) {
    return new StoreOptions(folder, journaling, upkeep, limits, ids, environment);
  }

  /** The same options with other limits. */
  public StoreOptions withLimits(Limits limits) {
    return new StoreOptions(folder, journaling, upkeep, limits, ids, environment);
  }

  /** The same options with other ids. */
  public StoreOptions withIds(Ids ids) {
    return new StoreOptions(folder, journaling, upkeep, limits, ids, environment);
  }

  /** The same options with another environment. */
  public StoreOptions withEnvironment(Environment environment) {
    return new StoreOptions(folder, journaling, upkeep, limits, ids, environment);
  }

  /** Whether answers wait for the disk. */
  public enum Journaling {
    /** An answer is given once every commit that its decision depends on is on disk. */
    STRICT,
    /**
     * An answer is given at once, before the commit is on disk. A crash may lose the newest
     * commits: at most those of one sync of the disk, and never more than {@link
     * Limits#unsyncedBytes}, beyond which answers wait.
     */
    OPPORTUNISTIC
  }

  /**
   * The ids and versions that a store gives: those whose remainder is {@code offset} when they are
   * divided by {@code step}. So several stores that divide work give different ids, and an id tells
   * its store.
   *
   * @param step 1 or more
   * @param offset 0 or more, below {@code step}
   */
  public record Ids(int step, int offset) {
    /** All ids. */
    public static final Ids ALL = new Ids(1, 0);

    /** Throws {@link IllegalArgumentException} for values out of range. */
    public Ids {
      if (step < 1 || offset < 0 || offset >= step) {
        throw new IllegalArgumentException("no ids: step " + step + ", offset " + offset);
      }
    }

    /** The smallest of these ids that is greater than {@code id}, which is not negative. */
    public long after(long id) {
      return step == 1 ? id + 1 : id + step - Math.floorMod(id - offset, step);
    }

    /**
     * What a count of 53 bits begins with, for programs that number things by themselves: 2^48
     * numbers after it are those of this store, of up to 32.
     */
    public long base() {
      return (long) offset << 48;
    }

    /** The greatest of these ids up to a number, or the smallest of all; not negative. */
    public long upTo(long number) {
      long id = number - Math.floorMod(number - offset, step);
      return id < 0 ? offset : id;
    }
  }

  /**
   * Snapshots, retention and the disk reserve.
   *
   * @param snapshotEvery the number of commits after which a new snapshot is started; default
   *     1,000,000
   * @param snapshotAtClose the longest time for a snapshot that is written when the store closes,
   *     if the next start would otherwise have to read much journal; zero for no such snapshot;
   *     default 10 seconds
   * @param retention how much of the journal is kept for subscribers; by default up to 1 GiB in
   *     total, of the last seven days
   * @param diskReserveBytes how many bytes of the disk the journal leaves free, 0 or more; if a new
   *     segment would take them, growth is refused as full until there is room. Default 64 MiB
   */
  public record Upkeep(
      long snapshotEvery, Duration snapshotAtClose, Retention retention, long diskReserveBytes) {
    /** The defaults. */
    public static final Upkeep DEFAULTS =
        new Upkeep(1_000_000, Duration.ofSeconds(10), Retention.DEFAULTS, 64 << 20);

    /** Throws {@link IllegalArgumentException} for values out of range. */
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

    /** Upkeep with the default disk reserve. */
    public Upkeep(long snapshotEvery, Duration snapshotAtClose, Retention retention) {
      this(snapshotEvery, snapshotAtClose, retention, 64 << 20);
    }

    /** The same upkeep with a snapshot after this many commits. */
    public Upkeep withSnapshotEvery(long commits) {
      return new Upkeep(commits, snapshotAtClose, retention, diskReserveBytes);
    }

    /** The same upkeep with another limit for the snapshot at close. */
    public Upkeep withSnapshotAtClose(Duration limit) {
      return new Upkeep(snapshotEvery, limit, retention, diskReserveBytes);
    }

    /** The same upkeep with another retention. */
    public Upkeep withRetention(Retention retention) {
      return new Upkeep(snapshotEvery, snapshotAtClose, retention, diskReserveBytes);
    }

    /** The same upkeep with another disk reserve. */
    public Upkeep withDiskReserveBytes(long bytes) {
      return new Upkeep(snapshotEvery, snapshotAtClose, retention, bytes);
    }
  }

  /**
   * The limits of a store. Each is the largest value that is allowed.
   *
   * @param operations parts of one transaction, and references of one read; default 10,000
   * @param transactionBytes bytes of data, documents and names in one transaction; default 16 MiB
   * @param dataBytes bytes of one task's data or one document's body; default 1 MiB
   * @param nameBytes bytes of UTF-8 of a group, collection, key or local name; default 512
   * @param requestIdBytes bytes of UTF-8 of a request id; default 128
   * @param claimCount tasks of one claim; default 1,000
   * @param claimGroups groups of one claim; default 100
   * @param waitingClaims claims that wait at a time; default 10,000
   * @param subscribers subscriptions open at a time; default 1,000
   * @param subscriberLag commits that are kept in memory for a subscriber that is behind; a
   *     subscriber further behind reads from the journal, see {@link Subscription}; default 100,000
   * @param subscriberLagBytes the estimated size of those commits; default a sixteenth of the
   *     largest heap, at most 64 MiB
   * @param queuedCommands commands and reads that wait for the store's thread, at least 1; beyond
   *     it callers get a {@link StoreBusyException}; default 100,000
   * @param queuedBytes the estimated size of those commands and reads; a single command may be
   *     larger; default a sixteenth of the largest heap, at most 64 MiB
   * @param unsyncedBytes bytes of journal that are not on disk; beyond it new commands wait;
   *     default 64 MiB
   * @param memoryBytes the estimated size of tasks, documents and remembered requests; growth
   *     beyond it is refused as full; default 60 % of the largest heap
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

    /** The largest id and time: 2^53 - 1, which every JSON parser reads exactly. */
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

    /** The same limits with another memory budget. */
    public Limits withMemoryBytes(long memoryBytes) {
      return with(subscriberLag, subscriberLagBytes, queuedCommands, queuedBytes, memoryBytes);
    }

    /**
     * The same limits with other values of {@code subscriberLag} and {@code subscriberLagBytes}.
     */
    public Limits withSubscriberLag(int commits, long bytes) {
      return with(commits, bytes, queuedCommands, queuedBytes, memoryBytes);
    }

    /** The same limits with other values of {@code queuedCommands} and {@code queuedBytes}. */
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

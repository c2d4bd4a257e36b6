package io.millrace.server.store;

import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.StoreOptions.Upkeep;
import io.millrace.store.journal.Retention;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The settings of the embedded store.
 *
 * @param options how it is opened
 */
public record StoreSettings(StoreOptions options) {
  private static final Limits DEFAULTS = Limits.defaults();

  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<Path> DATA =
      KEYS.path("data", "./millrace-data", "The folder of the store; created if it is absent.");
  private static final Key<Journaling> JOURNAL =
      KEYS.oneOf(
          "journal",
          Journaling.class,
          Journaling.STRICT,
          "Whether answers wait until they are on disk, or may lose the newest commits in a"
              + " crash.");
  private static final Key<Long> SNAPSHOT_EVERY =
      KEYS.number(
          "snapshot-every",
          1,
          Long.MAX_VALUE,
          Upkeep.DEFAULTS.snapshotEvery(),
          "After how many commits a new snapshot is begun.");
  private static final Key<Duration> SNAPSHOT_AT_CLOSE =
      KEYS.duration(
          "snapshot-at-close",
          Duration.ZERO,
          Duration.ofHours(1),
          Upkeep.DEFAULTS.snapshotAtClose(),
          "How long a snapshot may take that is written at a stop, so that the next start need not"
              + " read the journal; 0s for none. It is left out if there is little to read.");
  private static final Key<Long> KEEP_BYTES =
      KEYS.bytes(
          "journal-keep-bytes",
          0,
          1L << 50,
          Upkeep.DEFAULTS.retention().bytes(),
          "1GiB",
          "How large the journal's segments together may become before those go that only a"
              + " subscriber with an old position would read.");
  private static final Key<Duration> KEEP_TIME =
      KEYS.duration(
          "journal-keep-time",
          Duration.ZERO,
          Duration.ofDays(3650),
          Upkeep.DEFAULTS.retention().age(),
          "How old the commits may become before their segments go that only a subscriber with an"
              + " old position would read.");
  private static final Key<Long> DISK_RESERVE =
      KEYS.bytes(
          "disk-reserve-bytes",
          0,
          1L << 50,
          Upkeep.DEFAULTS.diskReserveBytes(),
          "64MiB",
          "How much of the disk the journal leaves free for others. If a new segment of 64 MiB"
              + " would take it, the store refuses growth as full until there is room again.");
  private static final Key<Long> MEMORY =
      KEYS.bytes(
          "memory-budget-bytes",
          1 << 20,
          1L << 50,
          DEFAULTS.memoryBytes(),
          "60 % of the largest heap",
          "What tasks, documents and remembered requests may take; beyond it growth is refused.");
  private static final Key<Long> UNSYNCED =
      KEYS.bytes(
          "unsynced-bytes",
          1 << 10,
          1L << 35,
          DEFAULTS.unsyncedBytes(),
          "64MiB",
          "The most bytes of journal that are not on disk; beyond it new commands wait. This bounds"
              + " what an opportunistic store can lose.");
  private static final Key<Long> OPERATIONS =
      KEYS.number(
          "max-operations",
          1,
          1_000_000,
          DEFAULTS.operations(),
          "The most parts of one update and ids of one read.");
  private static final Key<Long> TRANSACTION_BYTES =
      KEYS.bytes(
          "max-transaction-bytes",
          1 << 10,
          1 << 30,
          DEFAULTS.transactionBytes(),
          "16MiB",
          "The most bytes of data and names in one update.");
  private static final Key<Long> DATA_BYTES =
      KEYS.bytes(
          "max-data-bytes",
          1,
          1 << 30,
          DEFAULTS.dataBytes(),
          "1MiB",
          "The most bytes of one task's data or one document's body.");
  private static final Key<Long> CLAIM_COUNT =
      KEYS.number(
          "max-claim-count", 1, 100_000, DEFAULTS.claimCount(), "The most tasks of one claim.");
  private static final Key<Long> WAITING =
      KEYS.number(
          "max-waiting-claims",
          0,
          10_000_000,
          DEFAULTS.waitingClaims(),
          "The most claims that wait at a time.");
  private static final Key<Long> SUBSCRIBERS =
      KEYS.number(
          "max-subscribers",
          0,
          1_000_000,
          DEFAULTS.subscribers(),
          "The most streams of changes open at a time.");
  private static final Key<Long> SUBSCRIBER_LAG =
      KEYS.number(
          "max-subscriber-lag",
          1,
          100_000_000,
          DEFAULTS.subscriberLag(),
          "The most commits that are kept in memory for a stream that is behind. One further behind"
              + " goes on from the journal, and is cut off once the journal does not hold its"
              + " place.");
  private static final Key<Long> SUBSCRIBER_LAG_BYTES =
      KEYS.bytes(
          "max-subscriber-lag-bytes",
          1 << 10,
          1L << 40,
          DEFAULTS.subscriberLagBytes(),
          "a sixteenth of the largest heap, at most 64MiB",
          "The most bytes that those commits may take.");
  private static final Key<Long> QUEUED_COMMANDS =
      KEYS.number(
          "max-queued-commands",
          1,
          100_000_000,
          DEFAULTS.queuedCommands(),
          "The most commands and reads that wait for the store; beyond it requests are answered"
              + " 503.");
  private static final Key<Long> QUEUED_BYTES =
      KEYS.bytes(
          "max-queued-bytes",
          1 << 10,
          1L << 40,
          DEFAULTS.queuedBytes(),
          "a sixteenth of the largest heap, at most 64MiB",
          "The most bytes that those may take.");

  /** The section {@code store}. */
  public static final Section<StoreSettings> SECTION =
      KEYS.section(
          "store",
          values ->
              new StoreSettings(
                  StoreOptions.in(values.get(DATA))
                      .withJournaling(values.get(JOURNAL))
                      .withUpkeep(
                          new Upkeep(
                              values.get(SNAPSHOT_EVERY),
                              values.get(SNAPSHOT_AT_CLOSE),
                              new Retention(values.get(KEEP_BYTES), values.get(KEEP_TIME)),
                              values.get(DISK_RESERVE)))
                      .withLimits(
                          new Limits(
                              values.get(OPERATIONS).intValue(),
                              values.get(TRANSACTION_BYTES).intValue(),
                              values.get(DATA_BYTES).intValue(),
                              DEFAULTS.nameBytes(),
                              DEFAULTS.requestIdBytes(),
                              values.get(CLAIM_COUNT).intValue(),
                              DEFAULTS.claimGroups(),
                              values.get(WAITING).intValue(),
                              values.get(SUBSCRIBERS).intValue(),
                              values.get(SUBSCRIBER_LAG).intValue(),
                              values.get(SUBSCRIBER_LAG_BYTES),
                              values.get(QUEUED_COMMANDS).intValue(),
                              values.get(QUEUED_BYTES),
                              values.get(UNSYNCED),
                              values.get(MEMORY)))));
}

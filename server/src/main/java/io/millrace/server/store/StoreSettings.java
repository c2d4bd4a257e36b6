package io.millrace.server.store;

import io.millrace.journal.elastic.ElasticJournalOptions;
import io.millrace.journal.mongo.MongoJournalOptions;
import io.millrace.journal.s3.S3JournalOptions;
import io.millrace.journal.shared.JournalLocation;
import io.millrace.journal.shared.SharedJournal;
import io.millrace.journal.sql.SqlJournalOptions;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Configuration.Values;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.StoreOptions.Upkeep;
import io.millrace.store.TaskStore;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import io.millrace.store.journal.files.JournalCheck;
import io.millrace.wire.Placement;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the embedded store.
 *
 * @param options how it is opened; their folder is also that of everything else that the server
 *     keeps
 * @param shared the places of its journal, one for each shard, that other servers may share; empty
 *     if it is in that folder
 */
public record StoreSettings(StoreOptions options, List<JournalLocation> shared) {
  private static final String DEFAULT_FOLDER = "./millrace-data";
  private static final String FOLDER = "file:";

  /** What the address of a store begins with, for messages. */
  public static final String FORMS =
      "'jdbc:postgresql:', 'jdbc:mariadb:', 'jdbc:sqlite:', 's3://', 'mongodb://',"
          + " 'elasticsearch:' or 'file:'";

  private static final Limits DEFAULTS = Limits.defaults();

  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<Path> DATA =
      KEYS.path(
          "data",
          DEFAULT_FOLDER,
          "The folder of the store; created if it is absent. With `store.url` it has what is not in"
              + " the store: blobs, the archive, outputs and files of nodes, unless they are put"
              + " elsewhere.");
  private static final Key<@Nullable String> URL =
      KEYS.optionalText(
          "url",
          "Where the store is: `jdbc:postgresql://HOST/DATABASE`, `jdbc:mariadb://HOST/DATABASE`,"
              + " `jdbc:sqlite:FILE`, `s3://BUCKET/PREFIX`, `mongodb://HOST/DATABASE` or"
              + " `elasticsearch:https://HOST:PORT/INDEX`, which several servers may share (see"
              + " [stores.md](stores.md)), or `file:DIR`, the same as `store.data`.");
  private static final Key<@Nullable String> USER =
      KEYS.optionalText(
          "user", "The user of that database, or the id of the access key of that bucket.");
  private static final Key<@Nullable String> PASSWORD =
      KEYS.secret(
          "password", "password-file", "The password of that user, or the secret of that key.");
  private static final Key<@Nullable Path> PASSWORD_FILE =
      KEYS.optionalPath(
          "password-file", "A file with that password alone, instead of `store.password`.");
  private static final Key<String> NAME =
      KEYS.text(
          "name",
          "main",
          "The name of the store, since a database or bucket may have several: 1 to 64 letters,"
              + " digits, `-`, `_` and `.`.");
  private static final Key<Long> SHARDS =
      KEYS.number(
          "shards",
          1,
          Placement.MOST,
          1,
          "Into how many shards the store is divided, with a leader each, so that several servers"
              + " change it at once; see [stores.md](stores.md#shards). It takes `store.url`, is"
              + " the same at all servers, and stays as it is once the store is there.");
  private static final Key<@Nullable String> ACCEPT =
      KEYS.optionalText(
          "accept",
          "Settings of the database or bucket that are accepted although they may lose commits,"
              + " separated by commas; [stores.md](stores.md) lists them.");
  private static final Key<Duration> LEASE =
      KEYS.duration(
          "lease",
          Duration.ofMillis(500),
          Duration.ofMinutes(1),
          Duration.ofMillis(1_500),
          "How long the server that leads a shared store may answer without a sign from the"
              + " database. After a tenth more without one, another server takes over.");
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
              + " read the journal; 0s for none. It is left out if there is little to read, and"
              + " with `store.url`, since standbys have read it.");
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
  public static final Section<StoreSettings> SECTION = KEYS.section("store", StoreSettings::of);

  private static StoreSettings of(Values values) {
    Path folder = values.get(DATA);
    String url = values.get(URL);
    if (url != null && url.startsWith(FOLDER)) {
      Path named = Path.of(url.substring(FOLDER.length()));
      if (!folder.equals(Path.of(DEFAULT_FOLDER)) && !folder.equals(named)) {
        throw new ConfigurationException(
            "store.url and store.data name two folders, %s and %s; leave one of them out"
                .formatted(named, folder));
      }
      return ofFolder(options(named, values), values);
    }
    StoreOptions options = options(folder, values);
    if (url == null) {
      return ofFolder(options, values);
    }
    int shards = values.get(SHARDS).intValue();
    List<JournalLocation> shared =
        IntStream.range(0, shards)
            .mapToObj(shard -> location(url, shard, options, values))
            .toList();
    return new StoreSettings(ofOneShard(handingOver(options), shards), shared);
  }

  private static StoreSettings ofFolder(StoreOptions options, Values values) {
    if (values.get(SHARDS) > 1) {
      throw new ConfigurationException(
          "store.shards takes store.url with a database: a folder has one server, and so one"
              + " shard");
    }
    return new StoreSettings(options, List.of());
  }

  /** What one of several shards may take of the memory. */
  private static StoreOptions ofOneShard(StoreOptions options, int shards) {
    return options.withLimits(
        options.limits().withMemoryBytes(options.limits().memoryBytes() / shards));
  }

  /** A leader that ends writes no snapshot before: a standby has everything in memory. */
  private static StoreOptions handingOver(StoreOptions options) {
    Upkeep upkeep = options.upkeep();
    return options.withUpkeep(
        new Upkeep(
            upkeep.snapshotEvery(), Duration.ZERO, upkeep.retention(), upkeep.diskReserveBytes()));
  }

  /** Whether this is an address of a store. */
  public static boolean isAddress(String url) {
    return url.startsWith(FOLDER)
        || SqlJournalOptions.isSupported(url)
        || url.startsWith(S3JournalOptions.SCHEME)
        || MongoJournalOptions.isSupported(url)
        || url.startsWith(ElasticJournalOptions.SCHEME);
  }

  private static JournalLocation location(
      String url, int shard, StoreOptions options, Values values) {
    if (!isAddress(url)) {
      throw new ConfigurationException("store.url begins with " + FORMS + ": " + url);
    }
    if (options.journaling() != Journaling.STRICT) {
      throw new ConfigurationException(
          "store.journal is 'strict' for a store that others may lead");
    }
    String named = values.get(ACCEPT);
    Set<String> accepted = named == null ? Set.of() : Set.of(named.strip().split("\\s*,\\s*"));
    String user = values.get(USER);
    String password = SectionKeys.secretOf(values, "store", PASSWORD, PASSWORD_FILE);
    String name = values.get(NAME) + (shard == Placement.HOME ? "" : ".shard-" + shard);
    Retention kept = options.upkeep().retention();
    Duration lease = values.get(LEASE);
    try {
      if (url.startsWith(S3JournalOptions.SCHEME)) {
        return S3JournalOptions.at(url)
            .withKey(user, password)
            .withStore(name, accepted)
            .with(kept, lease);
      }
      if (MongoJournalOptions.isSupported(url)) {
        return MongoJournalOptions.at(url)
            .withUser(user, password)
            .withStore(name, accepted)
            .with(kept, lease);
      }
      if (url.startsWith(ElasticJournalOptions.SCHEME)) {
        return ElasticJournalOptions.at(url)
            .withUser(user, password)
            .withStore(name, accepted)
            .with(kept, lease);
      }
      return SqlJournalOptions.at(url)
          .withUser(user, password)
          .withStore(name)
          .withAccepted(accepted)
          .withRetention(kept)
          .withLease(lease);
    } catch (JournalException | IllegalArgumentException e) {
      throw new ConfigurationException("store.url: " + e.getMessage());
    }
  }

  private static StoreOptions options(Path folder, Values values) {
    return StoreOptions.in(folder)
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
                values.get(MEMORY)));
  }

  /**
   * Opens the store. If other servers may share it, this waits until none of them leads it.
   *
   * @throws io.millrace.store.StoreException if it cannot be opened
   * @throws io.millrace.store.journal.JournalException if the journal cannot be opened or is
   *     damaged
   */
  public EmbeddedTaskStore open() {
    return isShared() ? standby(Placement.HOME, null).lead() : TaskStore.open(options);
  }

  /** Whether other servers may share the store. */
  public boolean isShared() {
    return !shared.isEmpty();
  }

  /** How many shards the store has; 1 if it is not divided. */
  public int shards() {
    return Math.max(1, shared.size());
  }

  /**
   * A standby of a shard of a store that other servers may share.
   *
   * @param address where clients reach this server; null if it does not listen
   * @throws IllegalStateException if it is in a folder; see {@link #open}
   */
  public StandbyStore standby(int shard, @Nullable String address) {
    if (!isShared()) {
      throw new IllegalStateException("the store in " + options.folder() + " is not shared");
    }
    JournalLocation location = shared.get(shard);
    return TaskStore.standby(
        options.withIds(new Placement(shared.size()).ids(shard)),
        () -> SharedJournal.open(options.environment(), location),
        address);
  }

  /**
   * Checks the database, if the store is in one, without changing it.
   *
   * @return its name for people; null for a store in a folder
   * @throws JournalException if it cannot be reached, or may lose commits
   */
  public @Nullable String checkDatabase() {
    if (!isShared()) {
      return null;
    }
    SharedJournal.check(shared.getFirst());
    return shared.getFirst().toString();
  }

  /**
   * Where the store is kept, to read or write it as a whole without opening it.
   *
   * @throws ConfigurationException if it has several shards, which are kept by themselves
   */
  public JournalCheck.Place kept() {
    if (shared.size() > 1) {
      throw new ConfigurationException(
          "the store has %d shards, which are kept by themselves: name one by store.name, such as main or main.shard-1, with store.shards=1"
              .formatted(shared.size()));
    }
    return isShared()
        ? SharedJournal.place(options.environment(), shared.getFirst())
        : JournalCheck.folder(options.folder());
  }

  /** Where the store is, for people. */
  public String place() {
    if (!isShared()) {
      return "data in " + options.folder();
    }
    String shards = shared.size() == 1 ? "" : " with " + shared.size() + " shards";
    return "store in %s%s, everything else in %s"
        .formatted(shared.getFirst(), shards, options.folder());
  }
}

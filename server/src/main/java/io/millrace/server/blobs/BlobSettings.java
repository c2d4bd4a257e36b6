package io.millrace.server.blobs;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.mongo.MongoBlobTables;
import io.millrace.blobs.s3.S3BlobStore;
import io.millrace.blobs.sql.SqlBlobTables;
import io.millrace.database.DatabaseAddress;
import io.millrace.mongodb.MongoAddress;
import io.millrace.s3.S3Address;
import io.millrace.s3.S3AddressException;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Configuration.Values;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import io.millrace.server.security.FilePermissions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the blobs.
 *
 * @param data the folder of the blobs; null for the folder {@code blobs} within that of the store
 * @param place where the blobs are instead; null for a folder
 * @param maxBytes the longest blob that is accepted
 */
public record BlobSettings(@Nullable Path data, @Nullable Place place, long maxBytes) {
  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<@Nullable Path> DATA =
      KEYS.optionalPath(
          "data", "The folder of the blobs; if none is given, `blobs` within `store.data`.");
  private static final Key<@Nullable String> URL =
      KEYS.optionalText(
          "url",
          "A bucket or a database for the blobs instead of a folder:"
              + " `s3://BUCKET/PREFIX?region=REGION`, `…?endpoint=URL`,"
              + " `jdbc:postgresql://HOST/DATABASE`, `jdbc:mariadb://HOST/DATABASE`,"
              + " `jdbc:sqlite:FILE` or `mongodb://HOST/DATABASE` (see"
              + " [stores.md](stores.md#blobs-in-a-bucket)). A prefix of a bucket is for one store"
              + " alone.");
  private static final Key<@Nullable String> USER =
      KEYS.optionalText(
          "user",
          "The user of that database, or the id of the access key of that bucket; if none is given,"
              + " the key of the environment is taken.");
  private static final Key<@Nullable String> PASSWORD =
      KEYS.secret(
          "password", "password-file", "The password of that user, or the secret of that key.");
  private static final Key<@Nullable Path> PASSWORD_FILE =
      KEYS.optionalPath(
          "password-file", "A file with that secret alone, instead of `blobs.password`.");
  private static final Key<String> NAME =
      KEYS.text(
          "name",
          "main",
          "The name of the store whose blobs they are, since a database may have those of several:"
              + " 1 to 64 letters, digits, `-`, `_` and `.`.");
  private static final Key<Duration> LINK_TIME =
      KEYS.duration(
          "link-time",
          Duration.ZERO,
          Duration.ofDays(7),
          Duration.ZERO,
          "How long a link to a bucket can be used that a caller gets who asks for one"
              + " (`?link=true`); 0s for no links.");
  private static final Key<Long> MAX_BYTES =
      KEYS.bytes(
          "max-bytes",
          1,
          1L << 50,
          64L << 30,
          "64GiB",
          "The longest blob that is taken; at most 5 TiB in a bucket.");

  /** The section {@code blobs}. */
  public static final Section<BlobSettings> SECTION = KEYS.section("blobs", BlobSettings::of);

  private static final int MOST_CHARACTERS = 64;

  private static final String FORMS =
      "'s3://', 'jdbc:postgresql:', 'jdbc:mariadb:', 'jdbc:sqlite:' or 'mongodb://'";

  /**
   * A place for blobs that several servers can reach.
   *
   * @param address for people
   * @param opener opens what it has for a shard; nothing is asked of it yet
   * @param check checks that it can be used with so many shards
   */
  record Place(String address, IntFunction<BlobStore> opener, IntConsumer check) {}

  private static BlobSettings of(Values values) {
    Path data = values.get(DATA);
    String url = values.get(URL);
    long maxBytes = values.get(MAX_BYTES);
    if (url == null) {
      return new BlobSettings(data, null, maxBytes);
    }
    if (data != null) {
      throw new ConfigurationException(
          "blobs.url and blobs.data name two places; leave one of them out");
    }
    try {
      return new BlobSettings(null, place(url, maxBytes, values), maxBytes);
    } catch (S3AddressException | IllegalArgumentException e) {
      throw new ConfigurationException("blobs.url: " + e.getMessage());
    }
  }

  private static Place place(String url, long maxBytes, Values values) {
    String user = values.get(USER);
    String password = SectionKeys.secretOf(values, "blobs", PASSWORD, PASSWORD_FILE);
    if (DatabaseAddress.Kind.of(url).isPresent()) {
      DatabaseAddress database = new DatabaseAddress(url, user, password);
      String name = name(values);
      return new Place(
          database.toString(),
          shard -> SqlBlobTables.open(database, ofShard(name, shard)),
          shards -> SqlBlobTables.check(database, forShards(name, shards)));
    }
    if (MongoAddress.isSupported(url)) {
      MongoAddress database = new MongoAddress(url, user, password);
      String name = name(values);
      return new Place(
          database.toString(),
          shard -> MongoBlobTables.open(database, ofShard(name, shard)),
          shards -> MongoBlobTables.check(database, forShards(name, shards)));
    }
    if (!url.startsWith(S3Address.SCHEME)) {
      throw new ConfigurationException("blobs.url begins with " + FORMS + ": " + url);
    }
    if (maxBytes > S3BlobStore.MAX_BLOB_BYTES) {
      throw new ConfigurationException("blobs.max-bytes is at most 5TiB in a bucket: " + maxBytes);
    }
    S3Address bucket = S3Address.at(url).withKey(user, password);
    Duration linkTime = values.get(LINK_TIME);
    return new Place(
        bucket.toString(),
        shard ->
            S3BlobStore.open(
                bucket.withPrefix(ofShard(bucket.prefix(), shard)), maxBytes, linkTime),
        _ -> {
          try (S3BlobStore opened = S3BlobStore.open(bucket, maxBytes, linkTime)) {
            opened.check();
          }
        });
  }

  /** The name of what a shard has; that of the first shard, or of a store without, is its own. */
  private static String ofShard(String name, int shard) {
    return shard == 0 ? name : name + (name.isEmpty() ? "shard-" : ".shard-") + shard;
  }

  /** The name of a store that has room for the numbers of its shards. */
  private static String forShards(String name, int shards) {
    int longest = ofShard(name, shards - 1).length();
    if (longest > MOST_CHARACTERS) {
      throw new ConfigurationException(
          "blobs.name has at most %d characters with %d shards: %s"
              .formatted(MOST_CHARACTERS - longest + name.length(), shards, name));
    }
    return name;
  }

  private static String name(Values values) {
    String name = values.get(NAME);
    if (!name.matches("[A-Za-z0-9._-]{1,64}")) {
      throw new ConfigurationException(
          "blobs.name has 1 to 64 letters, digits, '-', '_' and '.': " + name);
    }
    return name;
  }

  /**
   * Opens the blobs of a shard. Each has its own, since what belongs to no job or task of it is
   * swept away.
   *
   * @param store the folder of the shard
   * @param shard its number; 0 if the store has none
   * @throws io.millrace.blobs.BlobException if a folder cannot be opened; of a bucket or a
   *     database, nothing is asked yet
   */
  public BlobStore open(Path store, int shard) {
    if (place != null) {
      return place.opener().apply(shard);
    }
    Path folder =
        data == null
            ? store.resolve("blobs")
            : data.resolveSibling(ofShard(String.valueOf(data.getFileName()), shard));
    BlobStore opened = FileBlobStore.open(folder);
    FilePermissions.warnIfShared("blob folder", folder);
    return opened;
  }

  /**
   * Checks the bucket or the database, if the blobs are in one. Creates the tables that a database
   * lacks; changes nothing else.
   *
   * @param shards how many the store has, at least 1
   * @return its name for people; null for a folder
   * @throws io.millrace.blobs.BlobException if it cannot be used
   * @throws ConfigurationException if its name has no room for the numbers of the shards
   */
  public @Nullable String checkPlace(int shards) {
    if (place == null) {
      return null;
    }
    place.check().accept(shards);
    return place.address();
  }
}

package io.millrace.server.blobs;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.s3.S3BlobStore;
import io.millrace.s3.S3Address;
import io.millrace.s3.S3AddressException;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Configuration.Values;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import io.millrace.server.security.FilePermissions;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the blobs.
 *
 * @param data the folder of the blobs; null for the folder {@code blobs} within that of the store
 * @param bucket where the blobs are instead; null for a folder
 * @param maxBytes the longest blob that is accepted
 */
public record BlobSettings(@Nullable Path data, @Nullable S3Address bucket, long maxBytes) {
  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<@Nullable Path> DATA =
      KEYS.optionalPath(
          "data", "The folder of the blobs; if none is given, `blobs` within `store.data`.");
  private static final Key<@Nullable String> URL =
      KEYS.optionalText(
          "url",
          "A bucket for the blobs instead of a folder: `s3://BUCKET/PREFIX?region=REGION` or"
              + " `…?endpoint=URL`, for one store alone (see"
              + " [stores.md](stores.md#blobs-in-a-bucket)).");
  private static final Key<@Nullable String> USER =
      KEYS.optionalText(
          "user",
          "The id of the access key of that bucket; if none is given, that of the environment is"
              + " taken.");
  private static final Key<@Nullable String> PASSWORD =
      KEYS.secret("password", "password-file", "The secret of that key.");
  private static final Key<@Nullable Path> PASSWORD_FILE =
      KEYS.optionalPath(
          "password-file", "A file with that secret alone, instead of `blobs.password`.");
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
    if (maxBytes > S3BlobStore.MAX_BLOB_BYTES) {
      throw new ConfigurationException("blobs.max-bytes is at most 5TiB in a bucket: " + maxBytes);
    }
    try {
      return new BlobSettings(
          null,
          S3Address.at(url)
              .withKey(
                  values.get(USER), SectionKeys.secretOf(values, "blobs", PASSWORD, PASSWORD_FILE)),
          maxBytes);
    } catch (S3AddressException e) {
      throw new ConfigurationException("blobs.url: " + e.getMessage());
    }
  }

  /**
   * Opens the blobs.
   *
   * @param store the folder of the store
   * @throws io.millrace.blobs.BlobException if a folder cannot be opened; of a bucket, nothing is
   *     asked yet
   */
  public BlobStore open(Path store) {
    if (bucket != null) {
      return S3BlobStore.open(bucket, maxBytes);
    }
    Path folder = data == null ? store.resolve("blobs") : data;
    BlobStore opened = FileBlobStore.open(folder);
    FilePermissions.warnIfShared("blob folder", folder);
    return opened;
  }

  /**
   * Checks the bucket, if the blobs are in one, without changing it.
   *
   * @return its name for people; null for a folder
   * @throws io.millrace.blobs.BlobException if it cannot be used
   */
  public @Nullable String checkBucket() {
    if (bucket == null) {
      return null;
    }
    try (S3BlobStore opened = S3BlobStore.open(bucket, maxBytes)) {
      opened.check();
    }
    return bucket.toString();
  }
}

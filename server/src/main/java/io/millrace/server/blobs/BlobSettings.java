package io.millrace.server.blobs;

import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the blobs.
 *
 * @param data the folder of the blobs; null for the folder {@code blobs} within that of the store
 * @param maxBytes the longest blob that is accepted
 */
public record BlobSettings(@Nullable Path data, long maxBytes) {
  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<@Nullable Path> DATA =
      KEYS.optionalPath(
          "data", "The folder of the blobs; if none is given, `blobs` within `store.data`.");
  private static final Key<Long> MAX_BYTES =
      KEYS.bytes("max-bytes", 1, 1L << 50, 64L << 30, "64GiB", "The longest blob that is taken.");

  /** The section {@code blobs}. */
  public static final Section<BlobSettings> SECTION =
      KEYS.section("blobs", values -> new BlobSettings(values.get(DATA), values.get(MAX_BYTES)));

  /** The folder of the blobs; {@code store} is the folder of the store. */
  public Path folder(Path store) {
    return data == null ? store.resolve("blobs") : data;
  }
}

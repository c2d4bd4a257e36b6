package io.millrace.store.journal;

/**
 * How a {@link FileJournal} keeps its files.
 *
 * @param segmentBytes the size to which segment files are allocated, 64 KiB to 1 GiB; a frame that
 *     is larger gets a segment of its own size
 * @param maxPayloadBytes the largest payload that is accepted, 1 byte to 1 GiB
 */
public record FileJournalOptions(int segmentBytes, int maxPayloadBytes) {
  /** Segments of 64 MiB, payloads up to 256 MiB. */
  public static final FileJournalOptions DEFAULTS = new FileJournalOptions(64 << 20, 256 << 20);

  /** Refuses values out of range with {@link IllegalArgumentException}. */
  public FileJournalOptions {
    if (segmentBytes < 1 << 16 || segmentBytes > 1 << 30) {
      throw new IllegalArgumentException("segmentBytes out of 65536..1073741824: " + segmentBytes);
    }
    if (maxPayloadBytes < 1 || maxPayloadBytes > 1 << 30) {
      throw new IllegalArgumentException(
          "maxPayloadBytes out of 1..1073741824: " + maxPayloadBytes);
    }
  }
}

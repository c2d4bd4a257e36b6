package io.millrace.store.journal;

/**
 * How a {@link FileJournal} keeps its files.
 *
 * @param segmentBytes the size to which segment files are allocated, 64 KiB to 1 GiB; a frame that
 *     is larger gets a segment of its own size
 * @param maxPayloadBytes the largest payload that is accepted, 1 byte to 1 GiB
 * @param retention how much is kept for subscribers
 */
public record FileJournalOptions(int segmentBytes, int maxPayloadBytes, Retention retention) {
  /** Segments of 64 MiB, payloads up to 256 MiB, up to 1 GiB of the last seven days kept. */
  public static final FileJournalOptions DEFAULTS =
      new FileJournalOptions(64 << 20, 256 << 20, Retention.DEFAULTS);

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

  /** With nothing kept beyond what a restart needs. */
  public FileJournalOptions(int segmentBytes, int maxPayloadBytes) {
    this(segmentBytes, maxPayloadBytes, Retention.NONE);
  }

  /** The same with so much kept for subscribers. */
  public FileJournalOptions withRetention(Retention retention) {
    return new FileJournalOptions(segmentBytes, maxPayloadBytes, retention);
  }
}

package io.millrace.store.journal.files;

import io.millrace.store.journal.Journal;
import io.millrace.store.journal.Retention;

/**
 * How a {@link FileJournal} keeps its files.
 *
 * @param segmentBytes the size to which segment files are allocated, 64 KiB to 1 GiB; a frame that
 *     is larger gets a segment of its own size
 * @param maxPayloadBytes the largest payload that is accepted, 1 byte to 1 GiB
 * @param retention how much is kept for subscribers
 * @param reserveBytes how much of the disk a new segment leaves free for others, 0 or more; if it
 *     cannot, the journal has a {@linkplain Journal.Shortage shortage}. The first segment of a new
 *     journal may take it
 */
public record FileJournalOptions(
    int segmentBytes, int maxPayloadBytes, Retention retention, long reserveBytes) {
  /**
   * Segments of 64 MiB, payloads up to 256 MiB, up to 1 GiB of the last seven days kept, 64 MiB of
   * the disk left free.
   */
  public static final FileJournalOptions DEFAULTS =
      new FileJournalOptions(64 << 20, 256 << 20, Retention.DEFAULTS, 64 << 20);

  /** Refuses values out of range with {@link IllegalArgumentException}. */
  public FileJournalOptions {
    if (segmentBytes < 1 << 16 || segmentBytes > 1 << 30) {
      throw new IllegalArgumentException("segmentBytes out of 65536..1073741824: " + segmentBytes);
    }
    if (maxPayloadBytes < 1 || maxPayloadBytes > 1 << 30) {
      throw new IllegalArgumentException(
          "maxPayloadBytes out of 1..1073741824: " + maxPayloadBytes);
    }
    if (reserveBytes < 0) {
      throw new IllegalArgumentException("reserveBytes is negative: " + reserveBytes);
    }
  }

  /** With nothing of the disk left free. */
  public FileJournalOptions(int segmentBytes, int maxPayloadBytes, Retention retention) {
    this(segmentBytes, maxPayloadBytes, retention, 0);
  }

  /** With nothing kept beyond what a restart needs, and nothing of the disk left free. */
  public FileJournalOptions(int segmentBytes, int maxPayloadBytes) {
    this(segmentBytes, maxPayloadBytes, Retention.NONE, 0);
  }

  /** The same with so much kept for subscribers. */
  public FileJournalOptions withRetention(Retention retention) {
    return new FileJournalOptions(segmentBytes, maxPayloadBytes, retention, reserveBytes);
  }

  /** The same with so much of the disk left free. */
  public FileJournalOptions withReserveBytes(long bytes) {
    return new FileJournalOptions(segmentBytes, maxPayloadBytes, retention, bytes);
  }
}

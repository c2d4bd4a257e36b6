package io.millrace.store.journal.files;

import io.millrace.store.journal.Journal;
import io.millrace.store.journal.Retention;

/**
 * The options of a {@link FileJournal}.
 *
 * @param segmentBytes the size of segment files, 64 KiB to 1 GiB; a larger frame gets a larger
 *     segment
 * @param maxPayloadBytes the largest payload that is accepted, 1 byte to 1 GiB
 * @param retention how much is kept for subscribers
 * @param reserveBytes how many bytes of the disk a new segment leaves free, 0 or more; if it
 *     cannot, the journal has a {@linkplain Journal.Shortage shortage}. The first segment that a
 *     start creates may use the reserve
 */
public record FileJournalOptions(
    int segmentBytes, int maxPayloadBytes, Retention retention, long reserveBytes) {
  /**
   * Segments of 64 MiB, payloads up to 256 MiB, {@link Retention#DEFAULTS}, a reserve of 64 MiB.
   */
  public static final FileJournalOptions DEFAULTS =
      new FileJournalOptions(64 << 20, 256 << 20, Retention.DEFAULTS, 64 << 20);

  /** Throws {@link IllegalArgumentException} for values out of range. */
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

  /** Options without a reserve. */
  public FileJournalOptions(int segmentBytes, int maxPayloadBytes, Retention retention) {
    this(segmentBytes, maxPayloadBytes, retention, 0);
  }

  /** Options without retention and without a reserve. */
  public FileJournalOptions(int segmentBytes, int maxPayloadBytes) {
    this(segmentBytes, maxPayloadBytes, Retention.NONE, 0);
  }

  /** The same options with another retention. */
  public FileJournalOptions withRetention(Retention retention) {
    return new FileJournalOptions(segmentBytes, maxPayloadBytes, retention, reserveBytes);
  }

  /** The same options with another reserve. */
  public FileJournalOptions withReserveBytes(long bytes) {
    return new FileJournalOptions(segmentBytes, maxPayloadBytes, retention, bytes);
  }
}

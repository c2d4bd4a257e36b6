package io.millrace.store;

import io.millrace.store.journal.Retention;
import java.time.Duration;

/**
 * How a store keeps its folder in order.
 *
 * @param snapshotEvery after how many commits a new snapshot is begun; default 1,000,000
 * @param snapshotAtClose how long a snapshot may take that is written when the store closes, if the
 *     next start would have to read much journal; zero for no such snapshot; default 10 seconds
 * @param retention how much of the journal is kept for subscribers; by default up to 1 GiB in all,
 *     of the last seven days
 * @param diskReserveBytes how much of the disk the journal leaves free for others, 0 or more; if a
 *     new segment would take it, growth is refused as full until there is room. Default 64 MiB
 */
public record Upkeep(
    long snapshotEvery, Duration snapshotAtClose, Retention retention, long diskReserveBytes) {
  /** The defaults. */
  public static final Upkeep DEFAULTS =
      new Upkeep(1_000_000, Duration.ofSeconds(10), Retention.DEFAULTS, 64 << 20);

  /** Refuses values that make no sense with {@link IllegalArgumentException}. */
  public Upkeep {
    if (snapshotEvery < 1) {
      throw new IllegalArgumentException("snapshotEvery must be at least 1, not " + snapshotEvery);
    }
    if (snapshotAtClose.isNegative()) {
      throw new IllegalArgumentException("snapshotAtClose is negative: " + snapshotAtClose);
    }
    if (diskReserveBytes < 0) {
      throw new IllegalArgumentException("diskReserveBytes is negative: " + diskReserveBytes);
    }
  }

  /** With the default reserve of the disk. */
  public Upkeep(long snapshotEvery, Duration snapshotAtClose, Retention retention) {
    this(snapshotEvery, snapshotAtClose, retention, 64 << 20);
  }

  /** The same with a snapshot after this many commits. */
  public Upkeep withSnapshotEvery(long commits) {
    return new Upkeep(commits, snapshotAtClose, retention, diskReserveBytes);
  }

  /** The same with so long for a snapshot at the close. */
  public Upkeep withSnapshotAtClose(Duration longest) {
    return new Upkeep(snapshotEvery, longest, retention, diskReserveBytes);
  }

  /** The same with so much journal kept. */
  public Upkeep withRetention(Retention retention) {
    return new Upkeep(snapshotEvery, snapshotAtClose, retention, diskReserveBytes);
  }

  /** The same with so much of the disk left free. */
  public Upkeep withDiskReserveBytes(long bytes) {
    return new Upkeep(snapshotEvery, snapshotAtClose, retention, bytes);
  }
}

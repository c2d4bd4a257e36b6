package io.millrace.store;

import io.millrace.store.journal.Retention;
import java.time.Duration;

/**
 * How a store keeps its folder in order.
 *
 * @param snapshotEvery after how many commits a new snapshot is begun; default 1,000,000
 * @param snapshotAtClose how long a snapshot may take that is written when the store closes, where
 *     the next start would have to read much journal; zero for no such snapshot; default 10 seconds
 * @param retention how much of the journal is kept for subscribers; by default up to 1 GiB in all,
 *     of the last seven days
 */
public record Upkeep(long snapshotEvery, Duration snapshotAtClose, Retention retention) {
  /** The defaults. */
  public static final Upkeep DEFAULTS =
      new Upkeep(1_000_000, Duration.ofSeconds(10), Retention.DEFAULTS);

  /** Refuses values that make no sense with {@link IllegalArgumentException}. */
  public Upkeep {
    if (snapshotEvery < 1) {
      throw new IllegalArgumentException("snapshotEvery must be at least 1, not " + snapshotEvery);
    }
    if (snapshotAtClose.isNegative()) {
      throw new IllegalArgumentException("snapshotAtClose is negative: " + snapshotAtClose);
    }
  }

  /** The same with a snapshot after this many commits. */
  public Upkeep withSnapshotEvery(long commits) {
    return new Upkeep(commits, snapshotAtClose, retention);
  }

  /** The same with so long for a snapshot at the close. */
  public Upkeep withSnapshotAtClose(Duration longest) {
    return new Upkeep(snapshotEvery, longest, retention);
  }

  /** The same with so much journal kept. */
  public Upkeep withRetention(Retention retention) {
    return new Upkeep(snapshotEvery, snapshotAtClose, retention);
  }
}

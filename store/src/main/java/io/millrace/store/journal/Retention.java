package io.millrace.store.journal;

import java.time.Duration;

/**
 * How much of a journal is kept for subscribers with old positions, beyond what a restart needs. A
 * segment is removed if either limit is exceeded.
 *
 * @param bytes the largest total size of all segments; 0 to keep only what a restart needs
 * @param age the largest age of a segment's last frame, in store time before the newest frame
 */
public record Retention(long bytes, Duration age) {
  /** Nothing beyond what a restart needs. */
  public static final Retention NONE = new Retention(0, Duration.ZERO);

  /** Up to 1 GiB in total, of the last seven days. */
  public static final Retention DEFAULTS = new Retention(1L << 30, Duration.ofDays(7));

  /** Throws {@link IllegalArgumentException} for negative values. */
  public Retention {
    if (bytes < 0 || age.isNegative()) {
      throw new IllegalArgumentException("negative retention: " + bytes + " bytes, " + age);
    }
  }

  /**
   * Whether to keep a segment that a restart does not need.
   *
   * @param totalBytes the size of all segments, including this one
   * @param ageMillis the time from its last frame to the newest frame
   */
  public boolean keeps(long totalBytes, long ageMillis) {
    return totalBytes <= bytes && ageMillis <= age.toMillis();
  }
}

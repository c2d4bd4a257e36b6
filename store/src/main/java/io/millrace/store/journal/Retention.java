package io.millrace.store.journal;

import java.time.Duration;

/**
 * How much of a journal is kept, beyond what a restart needs, for subscribers that come back with
 * an old position. A segment is removed when either limit is exceeded.
 *
 * @param bytes the most bytes that all segments may take together; 0 keeps nothing more
 * @param age how long ago, in store time before the newest frame, a segment's last frame may be
 */
public record Retention(long bytes, Duration age) {
  /** Nothing beyond what a restart needs. */
  public static final Retention NONE = new Retention(0, Duration.ZERO);

  /** Up to 1 GiB in all, of the last seven days. */
  public static final Retention DEFAULTS = new Retention(1L << 30, Duration.ofDays(7));

  /** Refuses negative values with {@link IllegalArgumentException}. */
  public Retention {
    if (bytes < 0 || age.isNegative()) {
      throw new IllegalArgumentException("negative retention: " + bytes + " bytes, " + age);
    }
  }

  /**
   * Whether a segment that only subscribers may want is to be kept.
   *
   * @param totalBytes what all segments take, with it
   * @param ageMillis the time from its last frame to the newest
   */
  public boolean keeps(long totalBytes, long ageMillis) {
    return totalBytes <= bytes && ageMillis <= age.toMillis();
  }
}

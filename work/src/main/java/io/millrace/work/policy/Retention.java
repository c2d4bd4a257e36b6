package io.millrace.work.policy;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How long finished work stays in the store before it is archived.
 *
 * @param age how long after its end; null for ever
 * @param count how many stay, those that ended last; null for any number
 */
public record Retention(@Nullable Duration age, @Nullable Long count) {
  /** The largest count. */
  public static final long MAX_COUNT = 1_000_000_000;

  /** All of it stays. */
  public static final Retention FOREVER = new Retention(null, null);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if one is negative
   */
  public Retention {
    if ((age != null && age.isNegative()) || (count != null && count < 0)) {
      throw new IllegalArgumentException("neither an age nor a count is negative");
    }
  }

  /** Whether all of it stays. */
  public boolean isForever() {
    return age == null && count == null;
  }

  /** Work that ended before this time, in milliseconds since the epoch, has reached its age. */
  public long limitMillis(Instant now) {
    return age == null ? Long.MIN_VALUE : now.minus(age).toEpochMilli();
  }
}

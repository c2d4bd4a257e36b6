package io.millrace.work;

import java.time.Instant;
import java.time.InstantSource;

/**
 * A clock that never goes back, for intervals: it begins with the time of day and then counts by
 * the monotonic clock, whatever is done to the time of day. Safe for use by threads.
 */
public final class MonotonicClock implements InstantSource {
  private final Instant begin = Instant.now();
  private final long beginNanos = System.nanoTime();

  @Override
  public Instant instant() {
    return begin.plusNanos(System.nanoTime() - beginNanos);
  }
}

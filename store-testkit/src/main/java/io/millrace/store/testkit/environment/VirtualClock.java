package io.millrace.store.testkit.environment;

import java.time.Duration;
import java.time.Instant;

/**
 * A clock that moves only when told. Begins at 2030-01-01T00:00:00Z with zero nanoseconds. Safe for
 * use by threads.
 */
public final class VirtualClock {
  /** The wall time at which a new clock begins. */
  public static final Instant START = Instant.parse("2030-01-01T00:00:00Z");

  private static final long NANOS_PER_MILLI = 1_000_000;

  private long nanos;
  private long wallOffsetMillis = START.toEpochMilli();

  /** The wall clock in milliseconds since the epoch. */
  public synchronized long wallMillis() {
    return wallOffsetMillis + nanos / NANOS_PER_MILLI;
  }

  /** The monotonic clock in nanoseconds. */
  public synchronized long nanos() {
    return nanos;
  }

  /**
   * Moves both clocks on.
   *
   * @throws IllegalArgumentException when {@code time} is negative
   */
  public synchronized void advance(Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException("time only goes on, not back by " + time);
    }
    nanos += time.toNanos();
  }

  /** Moves both clocks on to {@code nanos} of the monotonic one, never back. */
  synchronized void advanceTo(long nanos) {
    this.nanos = Math.max(this.nanos, nanos);
  }

  /** Lets the wall clock alone jump, forward or, by a negative time, back. */
  public synchronized void jumpWall(Duration time) {
    wallOffsetMillis += time.toMillis();
  }
}

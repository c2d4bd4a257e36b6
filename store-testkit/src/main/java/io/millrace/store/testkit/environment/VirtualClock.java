package io.millrace.store.testkit.environment;

import java.time.Duration;
import java.time.Instant;

/** A settable clock. It starts at 2030-01-01T00:00:00Z with zero nanoseconds. Thread-safe. */
public final class VirtualClock {
  /** The wall time of a new clock. */
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
   * Advances both clocks.
   *
   * @throws IllegalArgumentException if {@code time} is negative
   */
  public synchronized void advance(Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException("time never goes back: " + time);
    }
    nanos += time.toNanos();
  }

  /**
   * Advances both clocks until the monotonic clock shows {@code nanos}. Does nothing if that is in
   * the past.
   */
  synchronized void advanceTo(long nanos) {
    this.nanos = Math.max(this.nanos, nanos);
  }

  /** Moves only the wall clock, back if {@code time} is negative. */
  public synchronized void jumpWall(Duration time) {
    wallOffsetMillis += time.toMillis();
  }
}

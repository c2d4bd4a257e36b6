package io.millrace.jobs;

import java.time.InstantSource;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * Version 7 UUIDs that grow, even where the clock stands still or goes back: within a millisecond
 * the twelve bits behind it count, and when they are used up the next millisecond is borrowed. Safe
 * for use by any number of threads.
 */
final class Guids {
  private static final int COUNTER_BITS = 12;
  private static final long VERSION = 0x7000;
  private static final long VARIANT = 1L << 63;
  private static final long RANDOM_BITS = (1L << 62) - 1;

  private final InstantSource clock;
  private final RandomGenerator random;

  /** The milliseconds and the counter of the last one. */
  private long last;

  Guids(InstantSource clock, RandomGenerator random) {
    this.clock = clock;
    this.random = random;
  }

  synchronized JobId next() {
    last = Math.max(last + 1, clock.millis() << COUNTER_BITS);
    long counter = last & ((1 << COUNTER_BITS) - 1);
    long high = (last >>> COUNTER_BITS << 16) | VERSION | counter;
    return new JobId(new UUID(high, VARIANT | (random.nextLong() & RANDOM_BITS)));
  }
}

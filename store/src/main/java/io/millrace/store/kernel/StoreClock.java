package io.millrace.store.kernel;

import io.millrace.store.environment.Environment;

/**
 * Store time: starts at the larger of the wall clock and the last journaled time, and advances by
 * the monotonic clock, so it never goes back. Thread-safe.
 */
final class StoreClock {
  private final Environment environment;
  private final long startMillis;
  private final long startNanos;

  StoreClock(Environment environment, long journaledMillis) {
    this.environment = environment;
    this.startMillis = Math.max(environment.wallMillis(), journaledMillis);
    this.startNanos = environment.nanos();
  }

  long millis() {
    return startMillis + (environment.nanos() - startNanos) / 1_000_000;
  }

  /** By how much store time is ahead of the wall clock; negative if it is behind. */
  long aheadMillis() {
    return millis() - environment.wallMillis();
  }
}

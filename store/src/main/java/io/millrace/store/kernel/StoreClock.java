package io.millrace.store.kernel;

import io.millrace.store.environment.Environment;

/**
 * Store time: begins at the larger of the wall clock and the last journaled time, and goes on by
 * the monotonic clock, so it never goes back.
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
}

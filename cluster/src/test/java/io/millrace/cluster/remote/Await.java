package io.millrace.cluster.remote;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for conditions that become true without the test. */
final class Await {
  private static final Duration MOST = Duration.ofSeconds(30);
  private static final long BETWEEN_POLLS_NANOS = 2_000_000;

  private Await() {}

  static void until(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + MOST.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not true within " + MOST + ": " + what);
      }
      LockSupport.parkNanos(BETWEEN_POLLS_NANOS);
    }
  }
}

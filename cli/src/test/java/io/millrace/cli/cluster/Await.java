package io.millrace.cli.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Waits for conditions that other processes fulfil. */
final class Await {
  private static final Duration MOST = Duration.ofSeconds(90);
  private static final long BETWEEN_LOOKS_NANOS = 20_000_000;

  private Await() {}

  /** A condition that will hold at some time. */
  interface Condition {
    boolean holds() throws IOException;
  }

  /** Waits until it holds. */
  static void until(String what, Condition condition) throws IOException {
    long end = System.nanoTime() + MOST.toNanos();
    while (!condition.holds()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not within " + MOST + ": " + what);
      }
      LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
    }
  }
}

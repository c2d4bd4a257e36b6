package io.millrace.cli.remote;

import io.millrace.store.StoreException;

/** Pauses between attempts to reach a server that is unreachable. Not thread-safe. */
public final class Retries {
  private static final int ATTEMPTS = 10;
  private static final long PAUSE_MILLIS = 500;

  private int failed;

  /** Resets the count of failures after a successful attempt. */
  public void succeeded() {
    failed = 0;
  }

  /**
   * Pauses before the next attempt.
   *
   * @throws StoreException {@code failure}, if it is the tenth in a row
   */
  public void pause(StoreException failure) throws InterruptedException {
    failed++;
    if (failed == ATTEMPTS) {
      throw failure;
    }
    Thread.sleep(PAUSE_MILLIS);
  }
}

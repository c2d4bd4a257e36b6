package io.millrace.cli.remote;

import io.millrace.store.StoreException;

/** Pauses between attempts to reach a server that is away and may be back soon. For one thread. */
public final class Retries {
  private static final int ATTEMPTS = 10;
  private static final long PAUSE_MILLIS = 500;

  private int failed;

  /** Counts from the beginning again, after an attempt that succeeded. */
  public void succeeded() {
    failed = 0;
  }

  /**
   * Waits a little before the next attempt.
   *
   * @throws StoreException this failure, if it is the tenth in a row
   */
  public void pause(StoreException failure) throws InterruptedException {
    failed++;
    if (failed == ATTEMPTS) {
      throw failure;
    }
    Thread.sleep(PAUSE_MILLIS);
  }
}

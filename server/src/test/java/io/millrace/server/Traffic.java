package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.IntSupplier;

/** Counts what one side sent and the other side got, so that a test can wait for both to agree. */
final class Traffic {
  private int sent;
  private int got;

  synchronized void sent() {
    sent++;
  }

  synchronized void got() {
    got++;
    notifyAll();
  }

  /** Waits until all that was sent has come. */
  synchronized void settle() {
    long end = System.nanoTime() + 20_000_000_000L;
    IntSupplier missing = () -> sent - got;
    try {
      while (missing.getAsInt() > 0 && System.nanoTime() < end) {
        wait(100);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    assertThat(got).as("what has come of %s sent", sent).isGreaterThanOrEqualTo(sent);
  }
}

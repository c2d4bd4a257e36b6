package io.millrace.http;

import java.time.Duration;

/**
 * Whether a body comes fast enough: in each window of time that the server spends waiting for it, a
 * minimum of bytes must come. Time during which the server does not wait does not count. For use by
 * one thread at a time.
 */
final class Pace {
  private final long windowNanos;
  private final long leastBytes;
  private long waitedNanos;
  private long bytes;

  /**
   * A body that is about to come.
   *
   * @param window how long a window is
   * @param bytesPerSecond the least average within a window; 0 for any
   */
  Pace(Duration window, long bytesPerSecond) {
    this.windowNanos = window.toNanos();
    this.leastBytes = (long) Math.ceil(bytesPerSecond * (windowNanos / 1e9));
  }

  /** How much longer the server may wait before it must look again; at least 1 ns. */
  long leftNanos() {
    return leastBytes == 0 ? Long.MAX_VALUE : Math.max(1, windowNanos - waitedNanos);
  }

  /**
   * Notes that bytes have come, or none, after a wait.
   *
   * @return false if the body is too slow
   */
  boolean waited(long nanos, long count) {
    waitedNanos += nanos;
    bytes += count;
    if (leastBytes == 0 || bytes >= leastBytes) {
      waitedNanos = 0;
      bytes = 0;
      return true;
    }
    return waitedNanos < windowNanos;
  }
}

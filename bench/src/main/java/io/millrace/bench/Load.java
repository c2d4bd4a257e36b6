package io.millrace.bench;

import java.time.Duration;
import org.HdrHistogram.Histogram;

/**
 * The result of a load.
 *
 * @param count the lifecycles that ended
 * @param nanos the measured time
 * @param latency the time of each measured thing, in nanoseconds
 */
record Load(long count, long nanos, Histogram latency) {
  /** A histogram for latencies up to a minute, in nanoseconds. */
  static Histogram histogram() {
    return new Histogram(60_000_000_000L, 3);
  }

  /** Lifecycles per second. */
  double perSecond() {
    return count * 1e9 / nanos;
  }

  /** The latency in microseconds that this percentage of the measured things does not exceed. */
  double micros(double percentile) {
    return latency.getValueAtPercentile(percentile) / 1e3;
  }

  /**
   * When to measure.
   *
   * @param from the first moment, by {@link System#nanoTime}
   * @param until the moment after the last
   */
  record Window(long from, long until) {
    /** Begins after a warm-up of twice {@code time}, but at most ten seconds. */
    static Window after(Duration time) {
      long warm = Math.min(time.toNanos() * 2, 10_000_000_000L);
      long from = System.nanoTime() + warm;
      return new Window(from, from + time.toNanos());
    }

    long nanos() {
      return until - from;
    }
  }
}

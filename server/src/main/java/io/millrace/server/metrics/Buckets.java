package io.millrace.server.metrics;

import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.stream.LongStream;

/** Histograms of times, with buckets from 10 ms to hours. */
final class Buckets {
  private Buckets() {}

  /** A histogram of times until work starts. */
  static Timer.Builder wait(String name) {
    return timer(name, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000);
  }

  /** A histogram of times that work takes. */
  static Timer.Builder run(String name) {
    return timer(name, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000);
  }

  private static Timer.Builder timer(String name, long... millis) {
    return Timer.builder(name)
        .serviceLevelObjectives(
            LongStream.of(millis).mapToObj(Duration::ofMillis).toArray(Duration[]::new));
  }
}

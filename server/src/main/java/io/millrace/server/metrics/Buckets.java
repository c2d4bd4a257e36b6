package io.millrace.server.metrics;

import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.stream.LongStream;

/** The buckets of histograms of times. */
enum Buckets {
  /** Of times until work starts. */
  WAIT(10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000),
  /** Of times that work takes. */
  RUN(10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000);

  private final Duration[] bounds;

  Buckets(long... millis) {
    this.bounds = LongStream.of(millis).mapToObj(Duration::ofMillis).toArray(Duration[]::new);
  }

  /** A timer with this name and these buckets. */
  Timer.Builder timer(String name) {
    return Timer.builder(name).serviceLevelObjectives(bounds);
  }
}

package io.millrace.server.http;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** The number and duration of the answers of one route, by status. Safe for use by threads. */
final class RequestFigures {
  private static final int STATUSES = 600;

  private final MeterRegistry registry;
  private final String method;
  private final String route;
  private final AtomicReferenceArray<@Nullable Timer> timers = new AtomicReferenceArray<>(STATUSES);

  RequestFigures(MeterRegistry registry, String method, String route) {
    this.registry = registry;
    this.method = method;
    this.route = route;
  }

  void record(int status, long nanos) {
    Timer timer = timers.get(status);
    if (timer == null) {
      timer = timer(status);
      timers.set(status, timer);
    }
    timer.record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer timer(int status) {
    return Timer.builder("millrace.http.requests")
        .description("Requests answered, and the time from their header to the end of the answer")
        .tag("method", method)
        .tag("route", route)
        .tag("status", Integer.toString(status))
        .serviceLevelObjectives(
            Duration.ofNanos(500_000),
            Duration.ofMillis(1),
            Duration.ofMillis(5),
            Duration.ofMillis(10),
            Duration.ofMillis(50),
            Duration.ofMillis(100),
            Duration.ofMillis(500),
            Duration.ofSeconds(1),
            Duration.ofSeconds(10))
        .register(registry);
  }
}

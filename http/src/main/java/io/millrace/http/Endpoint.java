package io.millrace.http;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A route in service, with the number and duration of its answers by status. Safe for use by
 * threads.
 */
final class Endpoint {
  private static final int STATUSES = 600;

  private final Route route;
  private final List<String> names;
  private final MeterRegistry registry;
  private final String methodLabel;
  private final String pathLabel;
  private final AtomicReferenceArray<@Nullable Timer> timers = new AtomicReferenceArray<>(STATUSES);

  private Endpoint(Route route, MeterRegistry registry, String methodLabel, String pathLabel) {
    this.route = route;
    this.names = route.names();
    this.registry = registry;
    this.methodLabel = methodLabel;
    this.pathLabel = pathLabel;
  }

  /** Serves a route. */
  static Endpoint of(Route route, MeterRegistry registry) {
    return new Endpoint(route, registry, route.method().name(), route.path());
  }

  /** Answers what no route matches, by {@code route}; such requests are counted together. */
  static Endpoint unmatched(Route route, MeterRegistry registry) {
    return new Endpoint(route, registry, "any", "(none)");
  }

  Route route() {
    return route;
  }

  /** The names of its path parameters, in order. */
  List<String> names() {
    return names;
  }

  /** Counts an answer. */
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
        .tag("method", methodLabel)
        .tag("route", pathLabel)
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

package io.millrace.server.traces;

import io.millrace.http.Request;
import io.millrace.work.trace.Span;
import io.millrace.work.trace.TraceContext;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Begins and continues the traces of submitted work. Without a collector it does nothing, and
 * ignores the headers of requests. Safe for use by threads.
 */
public final class Traces {
  /** No traces. */
  public static final Traces OFF = new Traces(null, 0, _ -> {});

  private static final int SERVER_ERROR = 500;

  private final @Nullable RandomGenerator random;
  private final double ratio;
  private final Consumer<Span> spans;
  private final InstantSource clock = InstantSource.system();

  /**
   * Traces whose spans are passed on.
   *
   * @param random safe for use by threads; null for no traces
   * @param ratio how many of the traces that begin here are recorded, from 0 to 1
   * @param spans takes the spans; safe for use by threads, quick, and never fails
   */
  Traces(@Nullable RandomGenerator random, double ratio, Consumer<Span> spans) {
    this.random = random;
    this.ratio = ratio;
    this.spans = spans;
  }

  /**
   * The span of a request that submits work, to which the work belongs: in the trace of the
   * request's headers, or in a new one. It is recorded when the request is answered.
   *
   * @return null if there are no traces
   */
  public @Nullable TraceContext begin(Request request) {
    if (random == null) {
      return null;
    }
    Optional<TraceContext> parent =
        TraceContext.parse(
            request.header("traceparent").orElse(null), request.header("tracestate").orElse(null));
    TraceContext span =
        parent
            .map(context -> context.child(random))
            .orElseGet(() -> TraceContext.start(random, ratio));
    if (span.sampled()) {
      String parentId = parent.map(TraceContext::spanId).orElse("");
      request.onAnswer(status -> answered(request, span, parentId, status));
    }
    return span;
  }

  private void answered(Request request, TraceContext span, String parentId, int status) {
    long end = clock.millis();
    String method = request.route().method().name();
    Map<String, Object> attributes = new LinkedHashMap<>();
    attributes.put("http.request.method", method);
    attributes.put("http.route", request.route().path());
    attributes.put("http.response.status_code", (long) status);
    spans.accept(
        new Span(
            span,
            parentId,
            method + " " + request.route().path(),
            Span.Kind.SERVER,
            end - TimeUnit.NANOSECONDS.toMillis(request.nanos()),
            end,
            status >= SERVER_ERROR ? Integer.toString(status) : null,
            attributes));
  }

  /**
   * The first span of a new trace, of a run of a schedule.
   *
   * @param schedule the name of the schedule
   * @param startedMillis when the work was started, in milliseconds since the epoch
   * @return null if there are no traces
   */
  public @Nullable TraceContext begin(String schedule, long startedMillis) {
    if (random == null) {
      return null;
    }
    TraceContext span = TraceContext.start(random, ratio);
    if (span.sampled()) {
      Map<String, Object> attributes = new LinkedHashMap<>();
      attributes.put("millrace.schedule", schedule);
      spans.accept(
          new Span(
              span,
              "",
              "schedule " + schedule,
              Span.Kind.INTERNAL,
              startedMillis,
              clock.millis(),
              null,
              attributes));
    }
    return span;
  }
}

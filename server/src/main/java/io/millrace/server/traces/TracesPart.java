package io.millrace.server.traces;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.Route;
import io.millrace.server.Part;
import io.millrace.server.security.FilePermissions;
import io.millrace.work.trace.Span;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends the spans of requests and of work to a collector, if one is configured. */
public final class TracesPart implements Part {
  private static final Logger LOG = LoggerFactory.getLogger(TracesPart.class);

  private final @Nullable SpanQueue queue;
  private final Traces traces;
  private final List<Source> sources = new ArrayList<>();
  private final List<AutoCloseable> watches = new ArrayList<>();

  private TracesPart(@Nullable SpanQueue queue, Traces traces) {
    this.queue = queue;
    this.traces = traces;
  }

  /** Records the spans of some work from now on, until it is closed. */
  @FunctionalInterface
  public interface Source extends Function<Consumer<Span>, AutoCloseable> {}

  /**
   * The traces of a server.
   *
   * @param version the version of this server
   * @param random safe for use by threads
   * @param environment gives the value of an environment variable, which may be null
   */
  public static TracesPart open(
      TracesSettings settings,
      String version,
      RandomGenerator random,
      UnaryOperator<@Nullable String> environment) {
    URI collector = settings.collector(environment);
    if (collector == null) {
      return new TracesPart(null, Traces.OFF);
    }
    if (settings.headersFile() != null) {
      FilePermissions.warnIfShared("headers of traces", settings.headersFile());
    }
    SpanQueue queue =
        new SpanQueue(
            new OtlpSender(collector, settings.headers(), settings.serviceName(), version),
            settings.maxSpans());
    LOG.info("traces are sent to {}", collector);
    return new TracesPart(queue, new Traces(random, settings.ratio(), queue::add));
  }

  /** Begins and continues traces. */
  public Traces traces() {
    return traces;
  }

  /** Adds work whose spans are recorded once the server has started. */
  public void add(Source source) {
    sources.add(source);
  }

  @Override
  public List<Route> routes() {
    return List.of();
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    counter(registry, "exported", SpanQueue::sent);
    counter(registry, "dropped", SpanQueue::dropped);
    counter(registry, "failed", SpanQueue::failed);
    Gauge.builder("millrace.traces.waiting", () -> queue == null ? 0 : queue.size())
        .description("Spans that wait to be sent to the collector of traces")
        .register(registry);
    return () -> {};
  }

  private void counter(MeterRegistry registry, String outcome, ToLongFunction<SpanQueue> count) {
    FunctionCounter.builder(
            "millrace.traces.spans", this, _ -> queue == null ? 0 : count.applyAsLong(queue))
        .description("Spans of traces that were exported, dropped for want of room, or not taken")
        .tag("outcome", outcome)
        .register(registry);
  }

  @Override
  public void start(String url) {
    if (queue != null) {
      sources.forEach(source -> watches.add(source.apply(queue::add)));
    }
  }

  @Override
  public void close() {
    for (AutoCloseable watch : watches) {
      try {
        watch.close();
      } catch (Exception e) {
        LOG.debug("a watch of traces was not closed", e);
      }
    }
    if (queue != null) {
      queue.close();
    }
  }
}

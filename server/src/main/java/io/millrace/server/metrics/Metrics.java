package io.millrace.server.metrics;

import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.millrace.http.message.Response;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The registry of figures and its Prometheus form. */
public final class Metrics {
  private static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private Metrics() {}

  /** A registry that observes the garbage collector until it is closed. */
  private static final class JvmRegistry extends PrometheusMeterRegistry {
    private final JvmGcMetrics collections = new JvmGcMetrics();

    JvmRegistry() {
      super(PrometheusConfig.DEFAULT);
      collections.bindTo(this);
    }

    @Override
    public void close() {
      collections.close();
      super.close();
    }
  }

  /** A registry with the figures of this JVM, to be closed. */
  public static PrometheusMeterRegistry registry() {
    PrometheusMeterRegistry registry = new JvmRegistry();
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ClassLoaderMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
    return registry;
  }

  /** All figures as they are now. */
  public static Response scrape(PrometheusMeterRegistry registry) {
    return new Response.Whole(
        200, TYPE, Map.of(), registry.scrape(TYPE).getBytes(StandardCharsets.UTF_8));
  }
}

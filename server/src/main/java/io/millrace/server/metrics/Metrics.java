package io.millrace.server.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.millrace.http.message.Response;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;

/** The registry of figures and its Prometheus form. */
public final class Metrics {
  private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";
  private static final String OPEN_METRICS =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private Metrics() {}

  /** The registry of a server, to be closed. */
  public static final class Registry extends PrometheusMeterRegistry {
    private final JvmGcMetrics collections = new JvmGcMetrics();

    /**
     * A registry without the figures of the JVM.
     *
     * @param version the version of the program
     * @param leads whether the server leads its store
     */
    public Registry(String version, boolean leads) {
      super(PrometheusConfig.DEFAULT);
      Gauge.builder("millrace.info", () -> 1)
          .description("1, with the version of Millrace as a label")
          .tag("version", version)
          .register(this);
      Gauge.builder("millrace.leader", () -> leads ? 1 : 0)
          .description("1 if this server leads its store, 0 if it is a standby")
          .register(this);
    }

    /** Adds the figures of this JVM, which takes some milliseconds. */
    public void observeJvm() {
      collections.bindTo(this);
      new JvmMemoryMetrics().bindTo(this);
      new JvmThreadMetrics().bindTo(this);
      new ClassLoaderMetrics().bindTo(this);
      new ProcessorMetrics().bindTo(this);
      new UptimeMetrics().bindTo(this);
      new FileDescriptorMetrics().bindTo(this);
    }

    @Override
    public void close() {
      collections.close();
      super.close();
    }
  }

  /**
   * All figures as they are now.
   *
   * @param accept the header {@code Accept} of the request; empty if there is none
   * @return in the text format of OpenMetrics if that is preferred, otherwise in that of Prometheus
   */
  public static Response scrape(PrometheusMeterRegistry registry, String accept) {
    String type = prefersOpenMetrics(accept) ? OPEN_METRICS : TEXT;
    return new Response.Whole(
        200,
        type,
        Map.of("Vary", "Accept"),
        registry.scrape(type).getBytes(StandardCharsets.UTF_8));
  }

  private static boolean prefersOpenMetrics(String accept) {
    double openMetrics = 0;
    double text = 0;
    for (String range : accept.toLowerCase(Locale.ROOT).split(",", -1)) {
      String[] parts = range.split(";", -1);
      switch (parts[0].strip()) {
        case "application/openmetrics-text" -> openMetrics = Math.max(openMetrics, quality(parts));
        case "text/plain", "text/*" -> text = Math.max(text, quality(parts));
        default -> {}
      }
    }
    return openMetrics > 0 && openMetrics >= text;
  }

  /** The weight of a media range: 1 if it has none, 0 if it is malformed. */
  private static double quality(String[] range) {
    for (String parameter : range) {
      String text = parameter.strip();
      if (text.startsWith("q=")) {
        return text.matches("q=(0(\\.[0-9]{0,3})?|1(\\.0{0,3})?)")
            ? Double.parseDouble(text.substring(2))
            : 0;
      }
    }
    return 1;
  }
}

package io.millrace.server.traces;

import io.millrace.work.trace.Span;
import io.millrace.work.trace.TraceContext;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.TraceStateBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Sends spans by OTLP over HTTP, with OpenTelemetry's SDK, which gives them the ids that they have
 * already. Nothing else uses the classes of the SDK, so that a server without traces does not load
 * them. For use by one thread.
 */
final class OtlpSender implements SpanQueue.Sender {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final GivenIds ids = new GivenIds();
  private final List<SpanData> ended = new ArrayList<>();
  private final SdkTracerProvider provider;
  private final Tracer tracer;
  private final OtlpHttpSpanExporter exporter;

  /**
   * Connects when it sends.
   *
   * @param endpoint the whole address
   * @param headers of its requests
   * @param serviceName the name of this service
   * @param version the version of this service
   */
  OtlpSender(URI endpoint, Map<String, String> headers, String serviceName, String version) {
    OtlpHttpSpanExporterBuilder builder =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(endpoint.toString())
            .setCompression("gzip")
            .setConnectTimeout(TIMEOUT)
            .setTimeout(TIMEOUT);
    headers.forEach(builder::addHeader);
    this.exporter = builder.build();
    this.provider =
        SdkTracerProvider.builder()
            .setIdGenerator(ids)
            .setSampler(Sampler.alwaysOn())
            .setResource(
                Resource.getDefault()
                    .merge(
                        Resource.create(
                            Attributes.of(
                                AttributeKey.stringKey("service.name"), serviceName,
                                AttributeKey.stringKey("service.version"), version))))
            .addSpanProcessor(new Ended())
            .build();
    this.tracer = provider.get("io.millrace", version);
  }

  @Override
  public boolean send(List<Span> spans) {
    ended.clear();
    spans.forEach(this::record);
    CompletableResultCode result = exporter.export(List.copyOf(ended));
    ended.clear();
    // The exporter's own timeout covers one try, and it may try a few times.
    return result.join(TIMEOUT.toMillis() * 2, TimeUnit.MILLISECONDS).isSuccess();
  }

  private void record(Span span) {
    TraceContext context = span.context();
    ids.next = context;
    SpanBuilder builder =
        tracer
            .spanBuilder(span.name())
            .setSpanKind(SpanKind.valueOf(span.kind().name()))
            .setStartTimestamp(span.startMillis(), TimeUnit.MILLISECONDS);
    if (span.parentId().isEmpty()) {
      builder.setNoParent();
    } else {
      SpanContext parent =
          SpanContext.createFromRemoteParent(
              context.traceId(), span.parentId(), TraceFlags.getSampled(), state(context.state()));
      builder.setParent(Context.root().with(io.opentelemetry.api.trace.Span.wrap(parent)));
    }
    span.attributes()
        .forEach((name, value) -> {
          if (value instanceof Long number) {
            builder.setAttribute(name, number);
          } else {
            builder.setAttribute(name, value.toString());
          }
        });
    if (span.error() != null) {
      builder.setAttribute("error.type", span.error());
    }
    io.opentelemetry.api.trace.Span started = builder.startSpan();
    if (span.error() != null) {
      started.setStatus(StatusCode.ERROR);
    }
    started.end(span.endMillis(), TimeUnit.MILLISECONDS);
  }

  private static TraceState state(String text) {
    TraceStateBuilder state = TraceState.builder();
    List<String> members = List.of(text.split(",", -1)).reversed();
    for (String member : members) {
      int equals = member.indexOf('=');
      if (equals > 0) {
        state.put(member.substring(0, equals).strip(), member.substring(equals + 1).strip());
      }
    }
    return state.build();
  }

  @Override
  public void close() {
    provider.close();
    exporter.close();
  }

  /** Gives the next span its own ids. */
  private static final class GivenIds implements IdGenerator {
    private TraceContext next = new TraceContext("0".repeat(31) + 1, "0".repeat(15) + 1, true, "");

    @Override
    public String generateSpanId() {
      return next.spanId();
    }

    @Override
    public String generateTraceId() {
      return next.traceId();
    }
  }

  /** Collects the spans of the SDK. */
  private final class Ended implements SpanProcessor {
    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      ended.add(span.toSpanData());
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }
}

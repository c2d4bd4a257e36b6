package io.millrace.server.http;

import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.server.ServerException;
import io.millrace.wire.Answers;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Listens on one port and answers by the routes it was given. Safe for use by threads. */
public final class HttpListener {
  private static final Logger LOG = LoggerFactory.getLogger(HttpListener.class);

  private final InFlight inFlight = new InFlight();
  private final HttpLimits limits;
  private final WebServer server;

  private HttpListener(
      InetAddress address,
      int port,
      HttpLimits limits,
      Gate gate,
      Routes routes,
      Failures failures) {
    this.limits = limits;
    Dispatcher dispatcher = new Dispatcher(gate, routes, failures, inFlight, limits);
    Http1ConnectionSelector http =
        Http1ConnectionSelector.builder()
            .config(
                Http1Config.builder()
                    .maxPrologueLength(limits.maxRequestLineBytes())
                    .maxHeadersSize(limits.maxHeaderBytes())
                    .receiveLog(false)
                    .sendLog(false)
                    .buildPrototype())
            .build();
    Duration idleCheck = limits.idleTimeout().dividedBy(4).plusMillis(1);
    this.server =
        WebServer.builder()
            .address(address)
            .port(port)
            .shutdownHook(false)
            .featuresDiscoverServices(false)
            .protocolsDiscoverServices(false)
            .maxPayloadSize(-1)
            .maxTcpConnections(limits.maxConnections())
            .idleConnectionTimeout(limits.idleTimeout())
            .idleConnectionPeriod(idleCheck)
            .shutdownGracePeriod(Duration.ofSeconds(1))
            .connectionOptions(options -> options.tcpNoDelay(true))
            .addConnectionSelector(new ConnectionSelector(http, dispatcher, limits))
            .errorHandling(handling -> handling.includeEntity(true))
            .directHandlers(directHandlers())
            .build();
  }

  /**
   * Begins to listen.
   *
   * @param address where
   * @param port which port; 0 for any free one
   * @throws ServerException when it cannot, as when the port is taken
   */
  public static HttpListener start(
      InetAddress address,
      int port,
      HttpLimits limits,
      Gate gate,
      Routes routes,
      Failures failures) {
    HttpListener listener = new HttpListener(address, port, limits, gate, routes, failures);
    try {
      listener.server.start();
    } catch (UncheckedIOException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new ServerException(
          "cannot listen on "
              + address.getHostAddress()
              + " port "
              + port
              + ": "
              + cause.getMessage(),
          e);
    }
    return listener;
  }

  /** Shows how many requests are in flight. */
  public void measure(MeterRegistry registry) {
    Gauge.builder("millrace.http.inflight", inFlight, InFlight::count)
        .description("Requests that are being answered")
        .register(registry);
  }

  /** The port it listens on. */
  public int port() {
    return server.port();
  }

  /** Turns away new requests, finishes those in flight within the grace period, then closes. */
  public void stop() {
    try {
      if (!inFlight.stop(limits.stopGrace())) {
        LOG.warn(
            "{} requests were not answered within {}; their connections are closed",
            inFlight.count(),
            limits.stopGrace());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    server.stop();
  }

  /** Answers what is no HTTP request that could be routed. */
  private static DirectHandlers directHandlers() {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      handlers.addHandler(type, HttpListener::unroutable);
    }
    return handlers.build();
  }

  private static DirectHandler.TransportResponse unroutable(
      DirectHandler.TransportRequest request,
      DirectHandler.EventType type,
      Status status,
      ServerResponseHeaders headers,
      @Nullable String message) {
    // Our dispatcher answers every failure of a routed request, so an internal error of the library
    // can only mean that it could not read what the client sent.
    boolean unread =
        status.code() >= 500 && type != DirectHandler.EventType.HTTP_VERSION_NOT_SUPPORTED;
    String what = unread || message == null ? "the request line or a header is malformed" : message;
    headers.set(HeaderValues.create(HeaderNames.CONTENT_TYPE, Reply.JSON));
    return DirectHandler.TransportResponse.builder()
        .status(unread ? Status.BAD_REQUEST_400 : status)
        .headers(headers)
        .keepAlive(false)
        .entity(Answers.writeError(what))
        .build();
  }
}

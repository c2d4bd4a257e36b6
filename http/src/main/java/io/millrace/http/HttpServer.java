package io.millrace.http;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.message.HttpException;
import io.millrace.http.transport.ServerCertificate;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An HTTP server on one port. Thread-safe. */
public final class HttpServer {
  private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);

  private final InFlight inFlight;
  private final HttpLimits limits;
  private final Acceptor acceptor;
  private final @Nullable ServerCertificate certificate;

  private HttpServer(
      HttpLimits limits,
      InFlight inFlight,
      Acceptor acceptor,
      @Nullable ServerCertificate certificate) {
    this.certificate = certificate;
    this.limits = limits;
    this.inFlight = inFlight;
    this.acceptor = acceptor;
  }

  /**
   * Starts a server.
   *
   * @param address the address to listen on
   * @param port the port; 0 for any free one
   * @throws HttpException if it cannot, for example because the port is taken
   */
  public static HttpServer start(
      InetAddress address,
      int port,
      HttpLimits limits,
      AccessCheck access,
      Routes routes,
      ErrorResponses errorResponses) {
    return start(
        new Endpoint(address, port, null), limits, access, routes, errorResponses, AuditTrail.NONE);
  }

  /**
   * Where a server listens.
   *
   * @param address the address to listen on
   * @param port the port; 0 for any free one
   * @param certificate for TLS; null for plain connections. With it, only programs on the same
   *     machine may connect without TLS too
   */
  public record Endpoint(InetAddress address, int port, @Nullable ServerCertificate certificate) {}

  /**
   * Starts a server whose requests are recorded.
   *
   * @throws HttpException if it cannot, for example because the port is taken
   */
  public static HttpServer start(
      Endpoint endpoint,
      HttpLimits limits,
      AccessCheck access,
      Routes routes,
      ErrorResponses errorResponses,
      AuditTrail audit) {
    InFlight inFlight = new InFlight();
    HttpLimits possible = limits.possible(endpoint.certificate() != null);
    Dispatcher dispatcher =
        new Dispatcher(access, routes, errorResponses, audit, inFlight, possible.slowRequest());
    RequestMemory memory = new RequestMemory(possible.memoryBytes());
    try {
      Acceptor acceptor =
          Acceptor.start(
              new InetSocketAddress(endpoint.address(), endpoint.port()),
              made ->
                  new Connection.Context(
                      possible, memory, dispatcher, endpoint.certificate(), made::closed));
      return new HttpServer(possible, inFlight, acceptor, endpoint.certificate());
    } catch (UncheckedIOException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new HttpException(
          "cannot listen on "
              + endpoint.address().getHostAddress()
              + " port "
              + endpoint.port()
              + ": "
              + cause.getMessage(),
          e);
    }
  }

  /** Registers the metrics of the server. */
  public void measure(MeterRegistry registry) {
    acceptor.measure(registry);
    Gauge.builder("millrace.http.inflight", inFlight, InFlight::requests)
        .description("Requests that are being answered")
        .register(registry);
    Gauge.builder("millrace.http.websockets", inFlight, InFlight::upgraded)
        .description("Connections that were switched to WebSocket")
        .register(registry);
    if (certificate != null) {
      Gauge.builder(
              "millrace.http.certificate.expires",
              certificate,
              each -> each.expires().getEpochSecond())
          .description("When the certificate of the server ends, in seconds since 1970")
          .baseUnit("seconds")
          .register(registry);
    }
  }

  /** The port it listens on. */
  public int port() {
    return acceptor.port();
  }

  /**
   * Refuses new requests, waits for those in flight up to the grace period, then closes all
   * connections.
   */
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
    acceptor.stop();
  }
}

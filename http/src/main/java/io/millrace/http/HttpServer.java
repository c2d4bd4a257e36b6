package io.millrace.http;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.message.HttpException;
import io.millrace.http.transport.ServerCertificate;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP server on one port. What it serves, a {@link Site}, may be replaced while it listens.
 * Thread-safe.
 */
public final class HttpServer {
  private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);

  private final AtomicReference<Dispatcher> current;
  private final HttpLimits limits;
  private final Acceptor acceptor;
  private final @Nullable ServerCertificate certificate;

  private HttpServer(
      HttpLimits limits,
      AtomicReference<Dispatcher> current,
      Acceptor acceptor,
      @Nullable ServerCertificate certificate) {
    this.certificate = certificate;
    this.limits = limits;
    this.current = current;
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
        new Endpoint(address, port, null),
        limits,
        new Site(access, routes, errorResponses, AuditTrail.NONE));
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
   * What a server serves.
   *
   * @param access who is let in
   * @param routes all routes
   * @param errorResponses the responses to exceptions of handlers
   * @param audit records requests
   */
  public record Site(
      AccessCheck access, Routes routes, ErrorResponses errorResponses, AuditTrail audit) {}

  /**
   * Starts a server.
   *
   * @throws HttpException if it cannot, for example because the port is taken
   */
  public static HttpServer start(Endpoint endpoint, HttpLimits limits, Site site) {
    HttpLimits possible = limits.possible(endpoint.certificate() != null);
    AtomicReference<Dispatcher> current = new AtomicReference<>(dispatcher(site, possible));
    RequestMemory memory = new RequestMemory(possible.memoryBytes());
    try {
      Acceptor acceptor =
          Acceptor.start(
              new InetSocketAddress(endpoint.address(), endpoint.port()),
              made ->
                  new Connection.Context(
                      possible, memory, current::get, endpoint.certificate(), made::closed));
      return new HttpServer(possible, current, acceptor, endpoint.certificate());
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

  private static Dispatcher dispatcher(Site site, HttpLimits limits) {
    return new Dispatcher(
        site.access(),
        site.routes(),
        site.errorResponses(),
        site.audit(),
        new InFlight(),
        limits.slowRequest());
  }

  /**
   * Serves another site from the next request on. Waits for the requests to the site before, whose
   * waits and WebSockets are ended as by a stop; connections stay open.
   *
   * @param grace how long to wait; then the connections of those that are left are closed
   */
  public void serve(Site site, Duration grace) {
    Dispatcher before = current.getAndSet(dispatcher(site, limits));
    end(before, grace);
    acceptor.abort(before);
  }

  /** Registers the metrics of the server; those of connections count on in the last registry. */
  public void measure(MeterRegistry registry) {
    acceptor.measure(registry);
    Gauge.builder("millrace.http.inflight", current, each -> each.get().inFlight().requests())
        .description("Requests that are being answered")
        .register(registry);
    Gauge.builder("millrace.http.websockets", current, each -> each.get().inFlight().upgraded())
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
    end(current.get(), limits.stopGrace());
    acceptor.stop();
  }

  private static void end(Dispatcher dispatcher, Duration grace) {
    InFlight inFlight = dispatcher.inFlight();
    try {
      if (!inFlight.stop(grace)) {
        LOG.warn(
            "{} requests were not answered within {}; their connections are closed",
            inFlight.count(),
            grace);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}

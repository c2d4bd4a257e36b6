package io.millrace.http;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.message.HttpException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An HTTP server on one port. Thread-safe. */
public final class HttpServer {
  private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);

  private final InFlight inFlight;
  private final HttpLimits limits;
  private final Acceptor acceptor;

  private HttpServer(HttpLimits limits, InFlight inFlight, Acceptor acceptor) {
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
    return start(address, port, limits, access, routes, errorResponses, AuditTrail.NONE);
  }

  /**
   * Starts a server whose requests are recorded.
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
      ErrorResponses errorResponses,
      AuditTrail audit) {
    InFlight inFlight = new InFlight();
    HttpLimits possible = limits.possible();
    Dispatcher dispatcher =
        new Dispatcher(access, routes, errorResponses, audit, inFlight, possible.slowRequest());
    RequestMemory memory = new RequestMemory(possible.memoryBytes());
    try {
      Acceptor acceptor =
          Acceptor.start(
              new InetSocketAddress(address, port),
              made -> new Connection.Context(possible, memory, dispatcher, made::closed));
      return new HttpServer(possible, inFlight, acceptor);
    } catch (UncheckedIOException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new HttpException(
          "cannot listen on "
              + address.getHostAddress()
              + " port "
              + port
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

package io.millrace.http;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.message.HttpException;
import io.millrace.http.transport.ServerCertificate;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP server on one port. It serves one {@link Site}, or several, of which a {@link Chooser}
 * takes one for each request; each may be replaced while it listens. Thread-safe.
 */
public final class HttpServer {
  private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);

  /** The name of the only site of a server that has one. */
  private static final String ONLY = "";

  private final Sites sites;
  private final HttpLimits limits;
  private final Acceptor acceptor;
  private final @Nullable ServerCertificate certificate;
  private final AtomicBoolean drained = new AtomicBoolean();

  private HttpServer(
      HttpLimits limits, Sites sites, Acceptor acceptor, @Nullable ServerCertificate certificate) {
    this.certificate = certificate;
    this.limits = limits;
    this.sites = sites;
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

  /** Takes the site that serves a request. Called by event loops, so it must be quick. */
  @FunctionalInterface
  public interface Chooser {
    /**
     * The site of a request.
     *
     * @param method as it was sent
     * @param path as it was sent
     * @param query as it was sent; null for none
     */
    Choice choose(String method, String path, @Nullable String query);
  }

  /**
   * The site of a request.
   *
   * @param site its name
   * @param skipped how many characters of the path say only which site it is: the rest is the path
   *     that its routes know
   */
  public record Choice(String site, int skipped) {
    private static final Choice ONLY_SITE = new Choice(ONLY, 0);
  }

  /**
   * What serves a request.
   *
   * @param path the path that its routes know
   */
  record Chosen(Dispatcher dispatcher, String path) {}

  /** All sites by name. */
  private record Sites(Map<String, Dispatcher> dispatchers, Chooser chooser) {
    Chosen choose(String method, String path, @Nullable String query) {
      Choice choice = chooser.choose(method, path, query);
      Dispatcher found = dispatchers.get(choice.site());
      if (found == null) {
        throw new IllegalStateException("there is no site " + choice.site());
      }
      return new Chosen(found, path.substring(choice.skipped()));
    }

    /** One that refuses what cannot be parsed. */
    Dispatcher any() {
      return dispatchers.values().iterator().next();
    }

    Stream<InFlight> inFlight() {
      return dispatchers.values().stream().map(Dispatcher::inFlight);
    }
  }

  /**
   * Starts a server with one site.
   *
   * @throws HttpException if it cannot, for example because the port is taken
   */
  public static HttpServer start(Endpoint endpoint, HttpLimits limits, Site site) {
    return start(endpoint, limits, Map.of(ONLY, site), (_, _, _) -> Choice.ONLY_SITE);
  }

  /**
   * Starts a server with several sites.
   *
   * @param sites by name, at least one
   * @param chooser takes one of them for each request
   * @throws HttpException if it cannot, for example because the port is taken
   */
  public static HttpServer start(
      Endpoint endpoint, HttpLimits limits, Map<String, Site> sites, Chooser chooser) {
    HttpLimits possible = limits.possible(endpoint.certificate() != null);
    Sites all = new Sites(new ConcurrentHashMap<>(), chooser);
    sites.forEach((name, site) -> all.dispatchers().put(name, dispatcher(site, possible)));
    RequestMemory memory = new RequestMemory(possible.memoryBytes());
    try {
      Acceptor acceptor =
          Acceptor.start(
              new InetSocketAddress(endpoint.address(), endpoint.port()),
              made ->
                  new Connection.Context(
                      possible,
                      memory,
                      head -> all.choose(head.method(), head.path(), head.query()),
                      all::any,
                      endpoint.certificate(),
                      made::closed));
      return new HttpServer(possible, all, acceptor, endpoint.certificate());
    } catch (UncheckedIOException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new HttpException(
          "cannot listen on "
              + endpoint.address().getHostAddress()
              + " port "
              + endpoint.port()
              + ": "
              + cause.getMessage(),
          cause);
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
    serve(ONLY, site, grace);
  }

  /**
   * The same for one of several sites.
   *
   * @param name that of the site
   */
  public void serve(String name, Site site, Duration grace) {
    Dispatcher before = sites.dispatchers().put(name, dispatcher(site, limits));
    if (before == null) {
      throw new IllegalArgumentException("there is no site " + name);
    }
    end(List.of(before), grace);
    acceptor.abort(before);
  }

  /** Registers the metrics of the server; those of connections count on in the last registry. */
  public void measure(MeterRegistry registry) {
    acceptor.measure(registry);
    Gauge.builder(
            "millrace.http.inflight",
            sites,
            each -> each.inFlight().mapToInt(InFlight::requests).sum())
        .description("Requests that are being answered")
        .register(registry);
    Gauge.builder(
            "millrace.http.websockets",
            sites,
            each -> each.inFlight().mapToInt(InFlight::upgraded).sum())
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
   * Closes the port, and waits for the requests in flight up to the grace period; the connections
   * of the others are closed. Those that remain are told with the next request, which is refused,
   * that the server stops: so a client knows that nothing was done. Further calls do nothing.
   */
  public void drain() {
    if (drained.getAndSet(true)) {
      return;
    }
    acceptor.stopListening();
    List<Dispatcher> all = List.copyOf(sites.dispatchers().values());
    end(all, limits.stopGrace());
    all.forEach(acceptor::abort);
  }

  /** Does what {@link #drain} does, then closes all connections. */
  public void stop() {
    drain();
    acceptor.stop();
  }

  /** Ends requests to all of these at the same time. */
  private static void end(List<Dispatcher> dispatchers, Duration grace) {
    List<Thread> others =
        dispatchers.stream()
            .skip(1)
            .map(each -> Thread.startVirtualThread(() -> end(each, grace)))
            .toList();
    end(dispatchers.getFirst(), grace);
    for (Thread other : others) {
      try {
        other.join();
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
    }
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

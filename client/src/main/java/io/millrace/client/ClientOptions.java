package io.millrace.client;

import io.millrace.store.environment.DurationText;
import io.millrace.work.TrustedCertificates;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * How to reach a store over HTTP.
 *
 * @param servers the addresses of the server, {@code http} or {@code https}, with a path prefix if
 *     there is one; the paths of the APIs, for example {@code /store}, are appended. At least one;
 *     several if servers share a store, in any order: clients find the one that leads it
 * @param token a bearer token; null for none
 * @param certificates a PEM or DER file with the certificates to trust over {@code https}; null to
 *     trust those of the JVM. The host name is always checked
 * @param timeouts how long to wait
 * @param stale the greatest age of what is read from an {@link HttpTaskStore}, by {@link
 *     JsonCalls#read} and by the clients of jobs, queues and graphs: such reads then go to all
 *     servers in turn, and standbys answer what they can; no read has less than the same client has
 *     changed or read before. Null, the default, for none; then the leader answers everything
 */
public record ClientOptions(
    List<URI> servers,
    @Nullable String token,
    @Nullable Path certificates,
    Timeouts timeouts,
    @Nullable Duration stale) {
  /** The greatest {@code stale} that servers accept. */
  public static final Duration MOST_STALE = Duration.ofMinutes(1);

  /**
   * How long to wait.
   *
   * @param connect the longest time to connect; default 5 seconds
   * @param response the longest time for a response, in addition to the wait of a claim; default 30
   *     seconds
   * @param retry how long to retry if that is safe: for reads, for commands with a request id, and
   *     for requests that were never sent; default 10 seconds; zero for no retries
   */
  public record Timeouts(Duration connect, Duration response, Duration retry) {
    /** Rejects timeouts that are not positive. */
    public Timeouts {
      if (!connect.isPositive() || !response.isPositive() || retry.isNegative()) {
        throw new IllegalArgumentException("timeouts must be positive");
      }
    }
  }

  /** Rejects an invalid address. */
  public ClientOptions {
    servers = List.copyOf(servers);
    if (servers.isEmpty()) {
      throw new IllegalArgumentException("there is no address of a server");
    }
    servers.forEach(ClientOptions::check);
    if (token != null && !token.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw new IllegalArgumentException("the token must be printable ASCII without spaces");
    }
    if (stale != null && (stale.isNegative() || stale.compareTo(MOST_STALE) > 0)) {
      throw new IllegalArgumentException(
          "stale must be at most " + MOST_STALE.toSeconds() + "s, not " + DurationText.show(stale));
    }
  }

  private static void check(URI server) {
    String scheme = server.getScheme();
    if (server.getHost() == null
        || !("http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme))) {
      throw new IllegalArgumentException(badAddress(server));
    }
    if (server.getPort() == 0 || server.getPort() > 65_535) {
      throw new IllegalArgumentException(
          "the server's address has port " + server.getPort() + ", which is not from 1 to 65535");
    }
    if (server.getRawQuery() != null || server.getRawFragment() != null) {
      throw new IllegalArgumentException("the server's address has a query: " + server);
    }
  }

  /** The defaults for the server at this address. */
  public static ClientOptions at(URI server) {
    return at(List.of(server));
  }

  /** The defaults for servers at these addresses, which share a store. */
  public static ClientOptions at(List<URI> servers) {
    Timeouts timeouts =
        new Timeouts(Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofSeconds(10));
    return new ClientOptions(servers, null, null, timeouts, null);
  }

  /**
   * The defaults for one or more addresses, separated by commas, of servers that share a store.
   *
   * @throws IllegalArgumentException if one is invalid
   */
  public static ClientOptions at(String servers) {
    return at(
        Stream.of(servers.strip().split("\\s*,\\s*", -1)).map(ClientOptions::address).toList());
  }

  private static URI address(String server) {
    try {
      return new URI(server);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(badAddress(server), e);
    }
  }

  private static String badAddress(Object server) {
    return "the server's address must be like http://host:8048, not " + server;
  }

  /** The first address of the server. */
  public URI server() {
    return servers.getFirst();
  }

  /** The same with a bearer token. */
  public ClientOptions withToken(@Nullable String token) {
    return new ClientOptions(servers, token, certificates, timeouts, stale);
  }

  /** The same for reads that may be of this age; null for none. */
  public ClientOptions withStale(@Nullable Duration age) {
    return new ClientOptions(servers, token, certificates, timeouts, age);
  }

  /** The same, but trusting the certificates in this file instead of those of the JVM. */
  public ClientOptions withCertificates(@Nullable Path file) {
    return new ClientOptions(servers, token, file, timeouts, stale);
  }

  /** The same with another connect timeout. */
  public ClientOptions withConnectTimeout(Duration timeout) {
    return with(new Timeouts(timeout, timeouts.response, timeouts.retry));
  }

  /** The same with another response timeout. */
  public ClientOptions withResponseTimeout(Duration timeout) {
    return with(new Timeouts(timeouts.connect, timeout, timeouts.retry));
  }

  /** The same with another retry time. */
  public ClientOptions withRetryFor(Duration duration) {
    return with(new Timeouts(timeouts.connect, timeouts.response, duration));
  }

  private ClientOptions with(Timeouts other) {
    return new ClientOptions(servers, token, certificates, other, stale);
  }

  /**
   * The TLS context for {@code https}, also for other clients of the same server.
   *
   * @throws IllegalArgumentException if the certificates cannot be read, or there are none
   */
  public SSLContext tls() {
    return TrustedCertificates.context(certificates);
  }

  /** The address, without the token. */
  @Override
  public String toString() {
    return "client of " + addresses();
  }

  /** The addresses, separated by commas. */
  String addresses() {
    return servers.stream().map(URI::toString).collect(Collectors.joining(","));
  }
}

package io.millrace.client;

import io.millrace.work.TrustedCertificates;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * How to reach a store over HTTP.
 *
 * @param server the server's address, {@code http} or {@code https}, with a path if it is below
 *     one; the API's own {@code /store} is appended
 * @param token a bearer token; null for none
 * @param certificates a file of certificates, PEM or DER: over {@code https} the server must prove
 *     itself by one of them; null for the authorities that the JVM trusts. The host name is always
 *     checked
 * @param timeouts how long to wait
 */
public record ClientOptions(
    URI server, @Nullable String token, @Nullable Path certificates, Timeouts timeouts) {

  /**
   * How long to wait.
   *
   * @param connect for a connection; default 5 seconds
   * @param answer for an answer, beyond what a claim asked to wait; default 30 seconds
   * @param retry how long to go on trying if that is safe: for reads, for commands with a request
   *     id, and for whatever never left this machine; default 10 seconds, zero tries once
   */
  public record Timeouts(Duration connect, Duration answer, Duration retry) {
    /** Rejects timeouts that are not positive. */
    public Timeouts {
      if (!connect.isPositive() || !answer.isPositive() || retry.isNegative()) {
        throw new IllegalArgumentException("timeouts must be positive");
      }
    }
  }

  /** Rejects an address that is not one of a server. */
  public ClientOptions {
    String scheme = server.getScheme();
    if (server.getHost() == null
        || !("http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme))) {
      throw new IllegalArgumentException(
          "the server's address must be like http://host:8048, not " + server);
    }
    if (server.getPort() == 0 || server.getPort() > 65_535) {
      throw new IllegalArgumentException(
          "the server's address has port " + server.getPort() + ", which is not from 1 to 65535");
    }
    if (server.getRawQuery() != null || server.getRawFragment() != null) {
      throw new IllegalArgumentException("the server's address has a query: " + server);
    }
    if (token != null && !token.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw new IllegalArgumentException("the token must be printable ASCII without spaces");
    }
  }

  /** The server at this address, with the defaults. */
  public static ClientOptions at(URI server) {
    Timeouts timeouts =
        new Timeouts(Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofSeconds(10));
    return new ClientOptions(server, null, null, timeouts);
  }

  /** The same with a bearer token. */
  public ClientOptions withToken(@Nullable String token) {
    return new ClientOptions(server, token, certificates, timeouts);
  }

  /** The same, trusting the certificates in this file instead of the JVM's authorities. */
  public ClientOptions withCertificates(@Nullable Path file) {
    return new ClientOptions(server, token, file, timeouts);
  }

  /** The same with another wait for connections. */
  public ClientOptions withConnectTimeout(Duration timeout) {
    return with(new Timeouts(timeout, timeouts.answer, timeouts.retry));
  }

  /** The same with another wait for answers. */
  public ClientOptions withAnswerTimeout(Duration timeout) {
    return with(new Timeouts(timeouts.connect, timeout, timeouts.retry));
  }

  /** The same, trying for this long. */
  public ClientOptions withRetryFor(Duration duration) {
    return with(new Timeouts(timeouts.connect, timeouts.answer, duration));
  }

  private ClientOptions with(Timeouts other) {
    return new ClientOptions(server, token, certificates, other);
  }

  /**
   * The context in which {@code https} is spoken, also for other clients of the same server.
   *
   * @throws IllegalArgumentException when the certificates cannot be read, or there are none
   */
  public SSLContext tls() {
    return TrustedCertificates.context(certificates);
  }

  /** The token is left out. */
  @Override
  public String toString() {
    return "client of " + server;
  }
}

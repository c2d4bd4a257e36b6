package io.millrace.client;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How to reach a store over HTTP.
 *
 * @param server the server's address, {@code http} or {@code https}, with a path where it lives
 *     under one; the API's own {@code /store} is appended
 * @param token a bearer token; null for none
 * @param connectTimeout how long to wait for a connection; default 5 seconds
 * @param answerTimeout how long to wait for an answer, beyond what a claim asked to wait; default
 *     30 seconds
 * @param retryFor how long to go on trying where that is safe: for reads, for commands with a
 *     request id, and for whatever never left this machine; default 10 seconds, zero tries once
 */
public record ClientOptions(
    URI server,
    @Nullable String token,
    Duration connectTimeout,
    Duration answerTimeout,
    Duration retryFor) {

  /** Rejects an address that is not one of a server, and timeouts that are not positive. */
  public ClientOptions {
    String scheme = server.getScheme();
    if (server.getHost() == null
        || !("http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme))) {
      throw new IllegalArgumentException(
          "the server's address must be like http://host:8048, not " + server);
    }
    if (server.getRawQuery() != null || server.getRawFragment() != null) {
      throw new IllegalArgumentException("the server's address has a query: " + server);
    }
    if (token != null && !token.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw new IllegalArgumentException("the token must be printable ASCII without spaces");
    }
    if (!connectTimeout.isPositive() || !answerTimeout.isPositive() || retryFor.isNegative()) {
      throw new IllegalArgumentException("timeouts must be positive");
    }
  }

  /** The server at this address, with the defaults. */
  public static ClientOptions at(URI server) {
    return new ClientOptions(
        server, null, Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofSeconds(10));
  }

  /** The same with a bearer token. */
  public ClientOptions withToken(@Nullable String token) {
    return new ClientOptions(server, token, connectTimeout, answerTimeout, retryFor);
  }

  /** The same with another wait for connections. */
  public ClientOptions withConnectTimeout(Duration timeout) {
    return new ClientOptions(server, token, timeout, answerTimeout, retryFor);
  }

  /** The same with another wait for answers. */
  public ClientOptions withAnswerTimeout(Duration timeout) {
    return new ClientOptions(server, token, connectTimeout, timeout, retryFor);
  }

  /** The same, trying for this long. */
  public ClientOptions withRetryFor(Duration duration) {
    return new ClientOptions(server, token, connectTimeout, answerTimeout, duration);
  }

  /** The token is left out. */
  @Override
  public String toString() {
    return "client of " + server;
  }
}

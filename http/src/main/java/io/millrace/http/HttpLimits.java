package io.millrace.http;

import java.time.Duration;

/**
 * What a client may ask of the server's time and room.
 *
 * @param maxBodyBytes the longest body of a request; for what is streamed, the API has its own
 *     limit
 * @param maxHeaderBytes all headers of a request together
 * @param maxRequestLineBytes method, path and query
 * @param maxConnections connections at a time; further ones are answered 503 and closed. {@link
 *     ConnectionLimit} may lower it.
 * @param memoryBytes what requests may keep in memory together, see {@link RequestMemory}
 * @param headTimeout how long a head may take from its first byte, how long a connection may stay
 *     silent before a request with credentials has come, and the window for {@code minBodyRate}
 * @param minBodyRate how many bytes of a body must come per second of waiting for it; 0 for any
 * @param idleTimeout how long a connection may stay silent before it is closed
 * @param stopGrace how long a stop waits for the requests in flight
 * @param slowRequest from which time on a request is logged as slow; waiting claims and streams are
 *     not
 */
public record HttpLimits(
    int maxBodyBytes,
    int maxHeaderBytes,
    int maxRequestLineBytes,
    int maxConnections,
    long memoryBytes,
    Duration headTimeout,
    int minBodyRate,
    Duration idleTimeout,
    Duration stopGrace,
    Duration slowRequest) {
  /** The documented defaults. */
  public static final HttpLimits DEFAULT =
      new HttpLimits(
          64 << 20,
          16 << 10,
          16 << 10,
          10_000,
          Math.max(1 << 20, Runtime.getRuntime().maxMemory() / 8),
          Duration.ofSeconds(20),
          256,
          Duration.ofMinutes(5),
          Duration.ofSeconds(30),
          Duration.ofSeconds(1));

  /** The same with another number of connections. */
  HttpLimits withMaxConnections(int connections) {
    return new HttpLimits(
        maxBodyBytes,
        maxHeaderBytes,
        maxRequestLineBytes,
        connections,
        memoryBytes,
        headTimeout,
        minBodyRate,
        idleTimeout,
        stopGrace,
        slowRequest);
  }
}

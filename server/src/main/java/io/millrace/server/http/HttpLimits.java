package io.millrace.server.http;

import java.time.Duration;

/**
 * What a client may ask of the server's time and room.
 *
 * @param maxBodyBytes the longest body of a request; for what is streamed, the API has its own
 *     limit
 * @param maxHeaderBytes all headers of a request together
 * @param maxRequestLineBytes method, path and query
 * @param maxConnections connections at a time; further ones wait to be accepted
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
          Duration.ofMinutes(5),
          Duration.ofSeconds(30),
          Duration.ofSeconds(1));
}

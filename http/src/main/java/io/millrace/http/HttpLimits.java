package io.millrace.http;

import com.sun.management.UnixOperatingSystemMXBean;
import io.millrace.http.message.HttpException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a client may ask of the server's time and room.
 *
 * @param maxBodyBytes the longest body of a request; for what is streamed, the API has its own
 *     limit
 * @param maxHeaderBytes all headers of a request together
 * @param maxRequestLineBytes method, path and query
 * @param maxConnections connections at a time; further ones are answered 503 and closed. The limit
 *     of open files and the heap may lower it
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
  private static final Logger LOG = LoggerFactory.getLogger(HttpLimits.class);

  /** With fewer connections than this a server does not start. */
  private static final int LEAST_CONNECTIONS = 16;

  /** What a connection takes in the heap while a thread serves it, generously. */
  private static final int CONNECTION_HEAP_BYTES = 16 << 10;

  /** The least number of files that stay free for journal, snapshots, blobs and processes. */
  private static final int LEAST_RESERVED_FILES = 64;

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

  /**
   * The same with as many connections as this process can have now, with everything open but
   * connections: as configured, if the limit of open files and the largest heap allow it.
   *
   * @throws HttpException if so few files can be open that a server would not work
   */
  HttpLimits possible() {
    int connections = maxConnections;
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
      connections =
          connections(
              maxConnections,
              system.getMaxFileDescriptorCount(),
              system.getOpenFileDescriptorCount());
    }
    connections =
        (int) Math.min(connections, Runtime.getRuntime().maxMemory() / CONNECTION_HEAP_BYTES);
    if (connections < maxConnections) {
      LOG.info(
          "at most {} connections at a time, instead of {}: that is what the limit of open files"
              + " (ulimit -n) and the heap allow",
          connections,
          maxConnections);
    }
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

  /**
   * The number of connections that the limit of open files allows.
   *
   * @param files how many may be open, of any kind
   * @param open how many are open
   */
  static int connections(int configured, long files, long open) {
    long reserve = Math.max(LEAST_RESERVED_FILES, files / 4);
    long allowed = files - open - reserve;
    if (allowed < Math.min(configured, LEAST_CONNECTIONS)) {
      throw new HttpException(
          "the limit of open files is "
              + files
              + ", which leaves no room for connections: "
              + open
              + " are open, and "
              + reserve
              + " stay free for journal, snapshots, blobs and processes; raise it to at least 1024,"
              + " for example with ulimit -n 4096");
    }
    return (int) Math.min(configured, allowed);
  }
}

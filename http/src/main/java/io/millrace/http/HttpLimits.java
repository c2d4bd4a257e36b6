package io.millrace.http;

import com.sun.management.UnixOperatingSystemMXBean;
import io.millrace.http.message.HttpException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limits of an HTTP server.
 *
 * @param maxBodyBytes the longest body that is kept in memory; for streamed bodies, each API has
 *     its own limit
 * @param maxHeaderBytes the size of all headers of a request together
 * @param maxRequestLineBytes the size of method, path and query
 * @param maxConnections the largest number of connections; further ones are answered with 503 and
 *     closed. The limit of open files and the size of the heap may lower it
 * @param memoryBytes the memory for all requests together, see {@link RequestMemory}
 * @param headTimeout how long a head may take from its first byte, how long a connection may be
 *     idle before its first request with accepted credentials, and the window for {@code
 *     minBodyRate}
 * @param minBodyRate the smallest number of bytes of a body per second of waiting for it; 0 for no
 *     minimum
 * @param idleTimeout how long a connection may be idle before it is closed
 * @param stopGrace how long a stop waits for the requests in flight
 * @param slowRequest requests that take longer are logged; waiting claims and streams are not
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

  /** The server does not start if it can have fewer connections than this. */
  private static final int MIN_CONNECTIONS = 16;

  /** An upper estimate of the heap that a connection takes while a thread serves it. */
  private static final int CONNECTION_HEAP_BYTES = 16 << 10;

  /** The same with TLS. */
  private static final int SECURE_CONNECTION_HEAP_BYTES = 64 << 10;

  /** The smallest number of files that are reserved for journal, snapshots, blobs and processes. */
  private static final int MIN_RESERVED_FILES = 64;

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
   * The same limits, with {@code maxConnections} reduced to what the limit of open files and the
   * largest heap allow. Called after all other files of the process have been opened.
   *
   * @param secure whether connections are encrypted
   * @throws HttpException if the process may open too few files for a server
   */
  HttpLimits possible(boolean secure) {
    int connections = maxConnections;
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
      connections =
          connections(
              maxConnections,
              system.getMaxFileDescriptorCount(),
              system.getOpenFileDescriptorCount());
    }
    connections =
        (int)
            Math.min(
                connections,
                Runtime.getRuntime().maxMemory()
                    / (secure ? SECURE_CONNECTION_HEAP_BYTES : CONNECTION_HEAP_BYTES));
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
   * The number of connections that the limit of open files allows, at most {@code configured}.
   *
   * @param files the largest number of open files of any kind
   * @param open how many files are open now
   */
  static int connections(int configured, long files, long open) {
    long reserve = Math.max(MIN_RESERVED_FILES, files / 4);
    long allowed = files - open - reserve;
    if (allowed < Math.min(configured, MIN_CONNECTIONS)) {
      throw new HttpException(
          "the limit of open files is "
              + files
              + ", which leaves no room for connections: "
              + open
              + " are open, and "
              + reserve
              + " are reserved for journal, snapshots, blobs and processes; raise it to at least"
              + " 1024, for example with ulimit -n 4096");
    }
    return (int) Math.min(configured, allowed);
  }
}

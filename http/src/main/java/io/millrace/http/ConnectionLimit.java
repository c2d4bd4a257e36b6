package io.millrace.http;

import com.sun.management.UnixOperatingSystemMXBean;
import io.millrace.http.message.HttpException;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many connections this process can have at a time: as configured, if the limit of open files
 * and the largest heap allow it.
 */
final class ConnectionLimit {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionLimit.class);

  /** With fewer connections than this a server does not start. */
  static final int LEAST = 16;

  /** What a connection takes in the heap while a thread serves it, generously. */
  private static final int HEAP_BYTES = 16 << 10;

  /** The least number of files that stay free for journal, snapshots, blobs and processes. */
  private static final int LEAST_RESERVE = 64;

  private ConnectionLimit() {}

  /**
   * The limit for this process as it is now, with everything open but connections.
   *
   * @throws HttpException if so few files can be open that a server would not work
   */
  static int now(int configured) {
    int allowed = configured;
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
      allowed =
          of(configured, system.getMaxFileDescriptorCount(), system.getOpenFileDescriptorCount());
    }
    allowed = (int) Math.min(allowed, Runtime.getRuntime().maxMemory() / HEAP_BYTES);
    if (allowed < configured) {
      LOG.info(
          "at most {} connections at a time, instead of {}: that is what the limit of open files"
              + " (ulimit -n) and the heap allow",
          allowed,
          configured);
    }
    return allowed;
  }

  /**
   * The limit that files allow.
   *
   * @param files how many may be open, of any kind
   * @param open how many are open
   */
  static int of(int configured, long files, long open) {
    long reserve = Math.max(LEAST_RESERVE, files / 4);
    long allowed = files - open - reserve;
    if (allowed < Math.min(configured, LEAST)) {
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

package io.millrace.cli.log;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the start and the stop of a process that runs until it is stopped, a line each. Safe for use
 * by threads.
 */
public final class ProcessLog {
  private static final Logger LOG = LoggerFactory.getLogger(ProcessLog.class);

  private final String name;
  private final AtomicBoolean stopping = new AtomicBoolean();

  private ProcessLog(String name) {
    this.name = name;
  }

  /**
   * Logs that a process starts.
   *
   * @param name what it is, such as "server"
   */
  public static ProcessLog starting(String name) {
    String version = ProcessLog.class.getPackage().getImplementationVersion();
    LOG.info(
        "starting {}: version {}, process {}",
        name,
        version == null ? "development" : version,
        ProcessHandle.current().pid());
    return new ProcessLog(name);
  }

  /** Logs that it stops, once. */
  public void stopping() {
    if (stopping.compareAndSet(false, true)) {
      LOG.info("stopping {}", name);
    }
  }

  /** Logs that it has stopped, as the last line. */
  public void stopped(int exitCode) {
    stopping();
    LOG.info("stopped {} with exit code {}", name, exitCode);
  }
}

package io.millrace.cli.serve;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import org.jspecify.annotations.Nullable;

/**
 * The log level of this process, which the stored configuration may set. It is that of Millrace's
 * own loggers; what others log stays as it is.
 */
final class LogLevel {
  private final Logger millrace;
  private final @Nullable Level usual;

  /** The level that {@code context} has now is what holds where none is stored. */
  LogLevel(LoggerContext context) {
    millrace = context.getLogger("io.millrace");
    usual = millrace.getLevel();
  }

  /**
   * Sets it.
   *
   * @param level null for the usual one
   */
  void set(@Nullable String level) {
    millrace.setLevel(level == null ? usual : Level.valueOf(level));
  }
}

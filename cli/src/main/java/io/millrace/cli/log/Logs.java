package io.millrace.cli.log;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.core.joran.spi.JoranException;
import io.millrace.cli.terminal.UsageException;
import io.millrace.server.LogSettings.Format;
import java.net.URL;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.logging.LogManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * The level and the format of the log. The level is INFO for processes that run until they are
 * stopped, otherwise WARN, unless the system property {@code millrace.log} names another. The
 * format is that of the environment variable {@code MILLRACE_LOG_FORMAT}, otherwise text.
 */
public final class Logs {
  private static final Set<String> SERVING = Set.of("up", "node", "worker", "member");
  private static final String VARIABLE = "MILLRACE_LOG_FORMAT";
  private static final String LEVEL = "millrace.log";

  /** The name of the appender in {@code logback.xml}. */
  private static final String FORMAT = "millrace.log.format";

  private Logs() {}

  /**
   * Prepares the log of a process with these arguments; must be called before anything logs.
   *
   * @throws UsageException if the environment asks for an unknown format
   */
  public static void configure(Map<String, String> environment, String... args) {
    boolean serves = args.length > 0 && SERVING.contains(args[0]);
    if (System.getProperty(LEVEL) == null) {
      System.setProperty(LEVEL, serves ? "INFO" : "WARN");
    }
    System.setProperty(FORMAT, word(format(environment.get(VARIABLE))));
    if (serves) {
      LogManager.getLogManager().reset();
      SLF4JBridgeHandler.install();
    }
  }

  private static Format format(@Nullable String name) {
    if (name == null || name.isEmpty()) {
      return Format.TEXT;
    }
    for (Format format : Format.values()) {
      if (word(format).equals(name)) {
        return format;
      }
    }
    throw new UsageException(VARIABLE + " is text or json, not '" + name + "'");
  }

  private static String word(Format format) {
    return format.name().toLowerCase(Locale.ROOT);
  }

  /** Changes the format from now on. */
  public static void use(Format format) {
    String word = word(format);
    if (word.equals(System.setProperty(FORMAT, word))
        || !(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
      return;
    }
    URL file = Objects.requireNonNull(Logs.class.getResource("/logback.xml"));
    context.reset();
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    try {
      configurator.doConfigure(file);
    } catch (JoranException e) {
      throw new IllegalStateException(e);
    }
  }
}

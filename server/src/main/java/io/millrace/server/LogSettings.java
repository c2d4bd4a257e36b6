package io.millrace.server;

import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the log.
 *
 * @param format the format of its lines; null if the configuration does not say
 */
public record LogSettings(@Nullable Format format) {
  private static final SectionKeys KEYS = new SectionKeys();

  /** The format of the lines of the log. */
  public enum Format {
    /** Lines for people. */
    TEXT,
    /** An object of JSON in each line. */
    JSON
  }

  private static final Key<@Nullable Format> FORMAT =
      KEYS.optionalOneOf(
          "format",
          Format.class,
          "that of `MILLRACE_LOG_FORMAT`, or `text`",
          "The format of the log: lines of text, or an object of JSON in each line; see"
              + " docs/logs.md.");

  /** The section {@code log}. */
  public static final Section<LogSettings> SECTION =
      KEYS.section("log", values -> new LogSettings(values.get(FORMAT)));
}

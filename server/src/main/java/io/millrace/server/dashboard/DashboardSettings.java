package io.millrace.server.dashboard;

import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import java.util.regex.Pattern;

/**
 * The settings of the dashboard.
 *
 * @param hiddenFields a regular expression: values of fields in whose names it finds something, in
 *     capitals or not, are hidden until they are clicked; empty for none
 */
public record DashboardSettings(String hiddenFields) {
  private static final SectionKeys KEYS = new SectionKeys();
  private static final String SECRETS =
      "pass(word|wd)?|secret|token|api[-_]?key|credential|private[-_]?key";

  private static final Key<String> HIDDEN_FIELDS =
      KEYS.add(
          new Key<>(
              "hidden-fields",
              "a regular expression",
              SECRETS,
              "`" + SECRETS.replace("|", "\\|") + "`",
              "Values of params, data and results are hidden on the dashboard, until they are"
                  + " clicked, if this is found in the name of their field, in capitals or not."
                  + " Empty: nothing is hidden.",
              text -> Pattern.compile(text).pattern()));

  /** The section {@code dashboard}. */
  public static final Section<DashboardSettings> SECTION =
      KEYS.section("dashboard", values -> new DashboardSettings(values.get(HIDDEN_FIELDS)));
}

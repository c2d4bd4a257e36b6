package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.NullNode;

/** Limits on a command line: a number from 0, or {@code none}. */
public final class Limits {
  private Limits() {}

  /**
   * The limit as the server takes it.
   *
   * @throws UsageException when it is neither
   */
  public static JsonNode read(String option, String text) {
    if (text.equals("none") || text.equals("null")) {
      return NullNode.getInstance();
    }
    return IntNode.valueOf(count(option, text, "none or a number from 0"));
  }

  /**
   * A number from 0.
   *
   * @throws UsageException when it is none
   */
  public static int count(String option, String text) {
    return count(option, text, "a number from 0");
  }

  private static int count(String option, String text, String wanted) {
    try {
      int count = Integer.parseInt(text);
      if (count >= 0) {
        return count;
      }
    } catch (NumberFormatException _) {
      // Said below, as for a negative number.
    }
    throw new UsageException(
        option + " is " + wanted + " to " + Integer.MAX_VALUE + ", not '" + text + "'");
  }
}

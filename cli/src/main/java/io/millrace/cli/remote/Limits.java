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
    try {
      int limit = Integer.parseInt(text);
      if (limit >= 0) {
        return IntNode.valueOf(limit);
      }
    } catch (NumberFormatException _) {
      // Said below, as for a negative number.
    }
    throw new UsageException(option + " is a number from 0 or none, not '" + text + "'");
  }
}

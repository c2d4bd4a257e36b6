package io.millrace.cli.remote;

import io.millrace.cli.terminal.Table;
import java.io.PrintStream;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** Prints the attempts of a task or a node that have ended, as its server shows them. */
public final class AttemptLines {
  private AttemptLines() {}

  /**
   * Prints them, the oldest first, without characters that could control a terminal.
   *
   * @param attempts an array; nothing is printed if it is missing or empty
   * @param time formats a time of the server
   */
  public static void print(PrintStream out, JsonNode attempts, Function<JsonNode, String> time) {
    if (attempts.isEmpty()) {
      return;
    }
    out.println("attempts so far:");
    for (JsonNode attempt : attempts) {
      StringBuilder line = new StringBuilder("  ");
      line.append(time.apply(attempt.path("ended"))).append(' ');
      line.append(attempt.path("end").asString(""));
      append(line, " on ", attempt.path("node"));
      String code = attempt.path("code").asString("");
      if (!attempt.path("reason").asString("").contains(code)) {
        line.append(" with code ").append(code);
      }
      append(line, ": ", attempt.path("reason"));
      out.println(Table.printable(line.toString()));
      attempt
          .path("log")
          .asString("")
          .lines()
          .forEach(text -> out.println("    " + Table.printable(text)));
    }
  }

  private static void append(StringBuilder line, String before, JsonNode text) {
    if (text.isString()) {
      line.append(before).append(text.asString());
    }
  }
}

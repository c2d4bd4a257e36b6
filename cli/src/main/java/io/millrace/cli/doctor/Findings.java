package io.millrace.cli.doctor;

import io.millrace.server.security.FilePermissions;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What the checks of a machine have found. */
final class Findings {
  private final List<Finding> all = new ArrayList<>();

  /** How bad a finding is. */
  private enum Level {
    OK,
    WARNING,
    FAILURE
  }

  /**
   * What a check has found.
   *
   * @param check the name of what was checked
   * @param advice what to do about it; empty if nothing
   */
  private record Finding(String check, Level level, String message, String advice) {}

  void ok(String check, String message) {
    all.add(new Finding(check, Level.OK, message, ""));
  }

  void warn(String check, String message, String advice) {
    all.add(new Finding(check, Level.WARNING, message, advice));
  }

  void fail(String check, String message, String advice) {
    all.add(new Finding(check, Level.FAILURE, message, advice));
  }

  /** Whether something is wrong. */
  boolean haveFailure() {
    return all.stream().anyMatch(each -> each.level() == Level.FAILURE);
  }

  /** Warns if other users of this machine may use a file. */
  void checkOthers(Path path) {
    FilePermissions.shared(path)
        .ifPresent(found ->
            warn(
                "permissions",
                "other users of this machine may use %s (%s)".formatted(path, found.permissions()),
                found.advice()));
  }

  /** Prints all findings, as JSON or for people. */
  void print(PrintStream out, boolean json) {
    if (json) {
      JsonMapper mapper = new JsonMapper();
      ObjectNode report = mapper.createObjectNode();
      ArrayNode list = report.putArray("findings");
      for (Finding each : all) {
        list.addObject()
            .put("check", each.check())
            .put("level", each.level().name().toLowerCase(Locale.ROOT))
            .put("message", each.message())
            .put("advice", each.advice());
      }
      out.println(mapper.writeValueAsString(report));
      return;
    }
    for (Finding each : all) {
      out.printf(
          "%-8s %s: %s%n",
          each.level().name().toLowerCase(Locale.ROOT), each.check(), each.message());
      if (!each.advice().isEmpty()) {
        out.println("         " + each.advice());
      }
    }
  }
}

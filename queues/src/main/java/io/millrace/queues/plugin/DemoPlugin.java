package io.millrace.queues.plugin;

import io.millrace.queues.plugin.PluginDeclaration.ParamType;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;

/**
 * Pretends to do a migration, with the params {@code migration}, {@code user1}, {@code user2} and
 * {@code commands}: prints what it would do, a line for each command.
 */
@PluginParam(name = "migration", type = ParamType.TEXT, description = "the name of the migration")
@PluginParam(name = "user1", type = ParamType.TEXT, description = "who migrates")
@PluginParam(name = "user2", type = ParamType.TEXT, description = "to whom; user1 if it is absent")
@PluginParam(name = "commands", type = ParamType.TEXT, description = "names, separated by commas")
final class DemoPlugin implements Plugin {
  @Override
  public int run(PluginTask task) {
    try (PrintStream out = new PrintStream(task.stdout(), true, StandardCharsets.UTF_8);
        PrintStream err = new PrintStream(task.stderr(), true, StandardCharsets.UTF_8)) {
      JsonNode params = task.params();
      String from = params.path("user1").asString("");
      String to = params.path("user2").asString(from);
      if (from.isEmpty()) {
        err.println("the param user1 is missing");
        return 2;
      }
      String migration = params.path("migration").asString("demo");
      out.println(migration + ": from " + from + " to " + to + ", on " + task.node());
      for (String command : params.path("commands").asString("*").split("[,\\s]+", -1)) {
        if (task.isCancelled()) {
          err.println("ended before " + command);
          return 2;
        }
        out.println("ran " + command);
      }
      return 1;
    }
  }
}

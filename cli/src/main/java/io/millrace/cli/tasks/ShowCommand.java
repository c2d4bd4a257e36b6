package io.millrace.cli.tasks;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** Shows tasks. */
@Command(name = "show", description = "Shows all that is known of tasks, their output included.")
final class ShowCommand extends RemoteCommand {
  private static final List<String> OUTPUTS = List.of("stdout", "stderr");
  private static final List<String> APART = List.of("_id", "stdout", "stderr", "mixedout");

  @Mixin private IdArguments tasks = new IdArguments();

  ShowCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws IOException {
    List<JsonNode> found = new ArrayList<>();
    for (String id : tasks.read(terminal())) {
      found.add(TaskCalls.find(calls, id));
    }
    if (json()) {
      out().println(found);
      return ExitCode.OK;
    }
    TaskTable tables = new TaskTable(calls);
    for (JsonNode task : found) {
      Table table = new Table("FIELD", "VALUE");
      for (Map.Entry<String, JsonNode> field : task.properties()) {
        if (!APART.contains(field.getKey())) {
          table.row(field.getKey(), tables.text(field.getKey(), field.getValue()));
        }
      }
      table.print(out());
      OUTPUTS.forEach(name -> printOutput(task, name));
    }
    return ExitCode.OK;
  }

  private void printOutput(JsonNode task, String name) {
    JsonNode value = task.path(name);
    String text = Fields.text(value);
    if (value.has("$oid")) {
      String rest = "tasks tail " + Fields.id(task) + " --" + name;
      out().println(name + ": kept as a file, " + text + "; millrace " + rest + " shows it");
    } else if (!value.isNull() && !text.isEmpty()) {
      out().println(name + ":");
      // The task's own words, with nothing in it that could steer a terminal.
      text.lines().forEach(line -> out().println("  " + Table.printable(line)));
    }
  }
}

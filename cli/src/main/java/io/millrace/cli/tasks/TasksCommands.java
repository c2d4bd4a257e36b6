package io.millrace.cli.tasks;

import io.millrace.cli.remote.AttemptLines;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.queues.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code millrace tasks}: the commands on queue tasks. */
@Command(
    name = "tasks",
    description = "Submits, searches, shows, waits for and changes tasks of queues.",
    addMethodSubcommands = false)
public final class TasksCommands extends CommandGroup {
  private static final List<String> OUTPUTS = List.of("stdout", "stderr");
  private static final List<String> APART =
      List.of("_id", "stdout", "stderr", "mixedout", "ended_attempts");

  /** The group with its commands. */
  public CommandLine group() {
    CommandLine tasks = with();
    add(tasks, TaskWaiter.EXIT_CODES, new SubmitCommand(), "waitFor", new TailCommand());
    add(tasks, Map.of(), new SearchCommand(), "show", "cancel", "terminate", "block", "requeue");
    return tasks;
  }

  @Command(name = "wait", description = "Waits until tasks have ended; the exit code says how.")
  int waitFor(
      @Mixin ServerCommand server,
      @Mixin TaskCalls.Ids tasks,
      @Mixin Waiter.Options options,
      @Option(
              names = {"-q", "--quiet"},
              description = "Prints no results.")
          boolean quiet) {
    return server.run(calls -> {
      TaskWaiter.Ids ids = new TaskWaiter.Ids();
      tasks.read(terminal()).stream().distinct().forEach(ids::add);
      return new TaskWaiter(calls, server, options, quiet).until(ids);
    });
  }

  @Command(name = "show", description = "Shows tasks with all details and their output.")
  int show(@Mixin ServerCommand server, @Mixin TaskCalls.Ids tasks) {
    return server.perform(calls -> {
      List<JsonNode> found = new ArrayList<>();
      tasks.read(terminal()).forEach(id -> found.add(TaskCalls.find(calls, id)));
      if (server.json()) {
        out().println(found);
        return;
      }
      TaskCalls.TaskTable tables = new TaskCalls.TaskTable(calls);
      for (JsonNode task : found) {
        Table table = new Table("FIELD", "VALUE");
        for (Map.Entry<String, JsonNode> field : task.properties()) {
          if (!APART.contains(field.getKey())) {
            table.row(field.getKey(), tables.text(field.getKey(), field.getValue()));
          }
        }
        table.print(out());
        AttemptLines.print(
            out(), task.path("ended_attempts"), ended -> tables.text("ended", ended));
        OUTPUTS.forEach(name -> printOutput(task, name));
      }
    });
  }

  private void printOutput(JsonNode task, String name) {
    JsonNode value = task.path(name);
    String text = Fields.text(value);
    if (value.has("$oid")) {
      String rest = "tasks tail " + Fields.id(task) + " --" + name;
      out().println(name + ": kept as a file, " + text + "; millrace " + rest + " shows it");
    } else if (!value.isNull() && !text.isEmpty()) {
      out().println(name + ":");
      // Output of the task, without characters that could control a terminal.
      text.lines().forEach(line -> out().println("  " + Table.printable(line)));
    }
  }

  @Command(
      name = "cancel",
      description = "Cancels tasks that wait or are held back; they get status -5.")
  int cancel(@Mixin ServerCommand server, @Mixin TaskCalls.Ids tasks) {
    return operate("cancel", server, tasks);
  }

  @Command(
      name = "terminate",
      description =
          "Terminates tasks; running ones are killed with all their processes. They get status -3.")
  int terminate(@Mixin ServerCommand server, @Mixin TaskCalls.Ids tasks) {
    return operate("terminate", server, tasks);
  }

  @Command(name = "block", description = "Holds waiting tasks back; they get status -4.")
  int block(@Mixin ServerCommand server, @Mixin TaskCalls.Ids tasks) {
    return operate("block", server, tasks);
  }

  @Command(
      name = "requeue",
      aliases = "retry",
      description = "Queues tasks again that are held back or have ended; they get status -2.")
  int requeue(@Mixin ServerCommand server, @Mixin TaskCalls.Ids tasks) {
    return operate("requeue", server, tasks);
  }

  private int operate(String operation, ServerCommand server, TaskCalls.Ids tasks) {
    return server.run(calls ->
        server.each(
            tasks.read(terminal()),
            id -> post(calls, id, operation),
            response -> Status.name(response.path("status").asInt())));
  }

  private static JsonNode post(JsonCalls calls, String id, String operation) {
    try {
      return calls.post(TaskCalls.path(id) + "/" + operation, ServerCommand.object());
    } catch (RejectedException e) {
      if (!ServerCommand.isRefusal(e)) {
        throw e;
      }
      int code = isThere(calls, id) ? ExitCode.REFUSED : ExitCode.NOTHING;
      throw new CommandException(code, id + ": " + e.getMessage(), e);
    }
  }

  /** A second request, since the refusal does not show whether the task exists. */
  private static boolean isThere(JsonCalls calls, String id) {
    try {
      return calls.get(TaskCalls.path(id)).isObject();
    } catch (RejectedException _) {
      return false;
    }
  }
}

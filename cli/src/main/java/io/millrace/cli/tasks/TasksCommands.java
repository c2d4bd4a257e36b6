package io.millrace.cli.tasks;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.client.JsonCalls;
import io.millrace.queues.Status;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** The commands on tasks of queues, under one name. */
public final class TasksCommands {
  private TasksCommands() {}

  /** With all that belongs to it. */
  public static CommandLine group() {
    CommandLine tasks =
        CommandGroup.of(
            "tasks", "Submits, searches, shows, waits for and changes tasks of queues.");
    CommandGroup.add(
        tasks, Ends.EXIT_CODES, new SubmitCommand(), new WaitForTasks(), new TailCommand());
    CommandGroup.add(tasks, Map.of(), new SearchCommand(), new ShowTasks());
    addOperation(tasks, "cancel", "Cancels tasks that wait or are held back; they get status -5.");
    addOperation(
        tasks,
        "terminate",
        "Terminates tasks; running ones are killed with all their processes. They get status -3.");
    addOperation(tasks, "block", "Holds waiting tasks back; they get status -4.");
    addOperation(
        tasks,
        "requeue",
        "Queues tasks again that are held back or have ended; they get status -2.");
    return tasks;
  }

  private static void addOperation(CommandLine tasks, String name, String description) {
    CommandGroup.add(tasks, name, description, new OperateCommand(name));
  }

  /** Waits for tasks. */
  @Command(name = "wait", description = "Waits until tasks have ended; the exit code says how.")
  private static final class WaitForTasks extends RemoteCommand {
    @Mixin private TaskCalls.IdArguments tasks = new TaskCalls.IdArguments();

    @Mixin private Waiter.Options options = new Waiter.Options();

    @Option(
        names = {"-q", "--quiet"},
        description = "Prints no results.")
    private boolean quiet;

    @Override
    protected int run(JsonCalls calls) throws IOException, InterruptedException {
      TaskIds ids = new TaskIds();
      tasks.read(terminal()).stream().distinct().forEach(ids::add);
      return new TaskWaiter(calls, terminal(), options, json(), quiet).until(ids);
    }
  }

  /** Shows tasks. */
  @Command(name = "show", description = "Shows tasks with all details and their output.")
  private static final class ShowTasks extends RemoteCommand {
    private static final List<String> OUTPUTS = List.of("stdout", "stderr");
    private static final List<String> APART = List.of("_id", "stdout", "stderr", "mixedout");

    @Mixin private TaskCalls.IdArguments tasks = new TaskCalls.IdArguments();

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
      TaskCalls.TaskTable tables = new TaskCalls.TaskTable(calls);
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

  /** How tasks end. */
  static final class Ends {
    /** The exit codes of commands that wait for tasks. */
    static final Map<String, String> EXIT_CODES =
        Map.of(
            "6", "a task ended with another status than succeeded",
            "7", "--timeout was over before all tasks had ended");

    private Ends() {}

    /** Whether a task with this status comes no further by itself. */
    static boolean isEnd(int status) {
      return Status.isFinished(status) || Status.isHeld(status);
    }

    /** The exit code for one task. */
    static int exitCode(int status) {
      return status == Status.SUCCEEDED ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
    }
  }
}

package io.millrace.cli.tasks;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Terminal;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** The commands on tasks of queues, under one name. */
public final class TasksCommands {
  private TasksCommands() {}

  /** With all that belongs to it. */
  public static CommandLine on(Terminal terminal) {
    CommandLine tasks =
        CommandGroup.of("tasks", "Submits, finds, watches and operates the tasks of queues.");
    List.of(new SubmitCommand(terminal), new WaitCommand(terminal), new TailCommand(terminal))
        .forEach(command -> CommandGroup.add(tasks, command, Ends.EXIT_CODES));
    List.of(
            new SearchCommand(terminal),
            new ShowCommand(terminal),
            new OperateCommand.Cancel(terminal),
            new OperateCommand.Terminate(terminal),
            new OperateCommand.Block(terminal),
            new OperateCommand.Requeue(terminal))
        .forEach(command -> CommandGroup.add(tasks, command, Map.of()));
    return tasks;
  }
}

package io.millrace.cli.jobs;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Terminal;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** The commands on jobs, under one name. */
public final class JobsCommands {
  private static final Map<String, String> ENDS =
      Map.of("6", "a job failed", "7", "the time given ran out before all jobs had ended");

  private JobsCommands() {}

  /** With all that belongs to it. */
  public static CommandLine on(Terminal terminal) {
    CommandLine jobs =
        CommandGroup.of("jobs", "Submits, finds, watches and operates jobs for workers.");
    List.of(new SubmitCommand(terminal), new WaitCommand(terminal))
        .forEach(command -> CommandGroup.add(jobs, command, ENDS));
    List.of(
            new ListCommand(terminal),
            new ShowCommand(terminal),
            new ResultCommand(terminal),
            new OperateCommand.Retry(terminal),
            new OperateCommand.Cancel(terminal),
            new OperateCommand.Delete(terminal),
            new BatchesCommand(terminal))
        .forEach(command -> CommandGroup.add(jobs, command, Map.of()));
    return jobs;
  }
}

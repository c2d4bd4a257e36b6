package io.millrace.cli.queues;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Terminal;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** The commands on queues, under one name. */
public final class QueuesCommands {
  private QueuesCommands() {}

  /** With all that belongs to it. */
  public static CommandLine on(Terminal terminal) {
    CommandLine queues =
        CommandGroup.of(
            "queues", "Lists, creates, changes, resumes and deletes the queues of a server.");
    List.of(
            new QueueListCommand(terminal),
            new QueueShowCommand(terminal),
            new QueueCreateCommand(terminal),
            new QueueSetCommand(terminal),
            new QueueResumeCommand(terminal),
            new QueueDeleteCommand(terminal))
        .forEach(command -> CommandGroup.add(queues, command, Map.of()));
    return queues;
  }
}

package io.millrace.cli.queues;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Deletes a queue. */
@Command(
    name = "delete",
    description =
        "Deletes a queue. Its tasks stay and can be searched; those that wait are never run.")
final class QueueDeleteCommand extends RemoteCommand {
  @Parameters(paramLabel = "QUEUE", description = "Its id or name.")
  private String queue = "";

  @Option(names = "--force", description = "Also when tasks of it wait or run.")
  private boolean force;

  QueueDeleteCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    JsonNode found = QueueCalls.find(calls, queue);
    long unfinished = found.path("queued").asLong(0) + found.path("running").asLong(0);
    if (unfinished > 0 && !force) {
      throw new CommandException(
          ExitCode.REFUSED,
          "queue %s has %d unfinished tasks; --force deletes it all the same"
              .formatted(queue, unfinished));
    }
    print(calls.delete(QueueCalls.path(queue)), "deleted queue " + queue);
    return ExitCode.OK;
  }
}

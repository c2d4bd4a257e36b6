package io.millrace.cli.queues;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Shows a queue. */
@Command(name = "show", description = "Shows all that is set for a queue, and its counts.")
final class QueueShowCommand extends RemoteCommand {
  @Parameters(paramLabel = "QUEUE", description = "Its id or name.")
  private String queue = "";

  QueueShowCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    JsonNode found = QueueCalls.find(calls, queue);
    if (json()) {
      out().println(found);
    } else {
      Fields.print(out(), found);
    }
    return ExitCode.OK;
  }
}

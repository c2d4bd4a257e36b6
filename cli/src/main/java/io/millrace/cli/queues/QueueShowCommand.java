package io.millrace.cli.queues;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

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
      ObjectNode shown = (ObjectNode) found.deepCopy();
      shown.remove(List.of("halted", "suspended"));
      shown.put("health", QueueCalls.health(found));
      Fields.print(out(), shown);
      if (!QueueCalls.reasons(found).isEmpty()) {
        out().println(QueueCalls.reasons(found));
        out().println("To serve it again: millrace queues resume " + queue);
      }
    }
    return ExitCode.OK;
  }
}

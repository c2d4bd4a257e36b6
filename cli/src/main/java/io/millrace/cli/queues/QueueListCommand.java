package io.millrace.cli.queues;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** Lists queues. */
@Command(name = "list", description = "Lists the queues and how many tasks each has.")
final class QueueListCommand extends RemoteCommand {
  QueueListCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    JsonNode queues = calls.get(QueueCalls.PATH);
    if (json()) {
      out().println(queues);
      return ExitCode.OK;
    }
    Table table =
        new Table("ID", "NAME", "PLUGIN", "THREADS", "QUEUED", "RUNNING", "COMPLETED", "HEALTH");
    for (JsonNode queue : queues) {
      table.row(
          Fields.id(queue),
          Fields.text(queue.path("name")),
          Fields.text(queue.path("plugin")),
          Fields.text(queue.path("threads")),
          Fields.text(queue.path("queued")),
          Fields.text(queue.path("running")),
          Fields.text(queue.path("completed")),
          QueueCalls.health(queue));
    }
    table.print(out());
    return ExitCode.OK;
  }
}

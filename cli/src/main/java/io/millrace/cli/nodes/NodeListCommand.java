package io.millrace.cli.nodes;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.time.Instant;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** Lists execution nodes. */
@Command(
    name = "list",
    description = {
      "Lists the execution nodes.",
      "A node is alive, dead (it has not refreshed itself for five seconds), or has left."
    })
final class NodeListCommand extends RemoteCommand {
  NodeListCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    JsonNode nodes = calls.get(NodesCommands.PATH);
    if (json()) {
      out().println(nodes);
      return ExitCode.OK;
    }
    Table table = new Table("NODE", "STATE", "MAXTHREADS", "REFRESHED");
    for (JsonNode node : nodes) {
      table.row(
          Fields.text(node.path("node")),
          Fields.text(node.path("state")),
          Fields.text(node.path("maxthreads")),
          Instant.ofEpochMilli(node.path("timestamp").asLong(0)));
    }
    table.print(out());
    return ExitCode.OK;
  }
}

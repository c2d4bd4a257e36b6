package io.millrace.cli.nodes;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Removes a node. */
@Command(
    name = "remove",
    description = {
      "Removes a node that is dead or has left, with its maxthreads.",
      "What is configured for it stays; when it starts again, it is listed again."
    })
final class NodeRemoveCommand extends RemoteCommand {
  @Parameters(paramLabel = "NODE", description = "Its name or id.")
  private String node = "";

  NodeRemoveCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    String path = NodesCommands.PATH + "/" + JsonCalls.part(node);
    JsonNode found = named(() -> calls.get(path));
    print(calls.delete(path), "removed node " + found.path("node").asString(node));
    return ExitCode.OK;
  }
}

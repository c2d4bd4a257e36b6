package io.millrace.cli.nodes;

import io.millrace.cli.remote.Limits;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Sets the limit of a node. */
@Command(name = "set", description = "Sets how many tasks a node runs; what runs already goes on.")
final class NodeSetCommand extends RemoteCommand {
  @Parameters(paramLabel = "NODE", description = "Its name or id.")
  private String node = "";

  @Option(
      names = {"-m", "--maxthreads"},
      required = true,
      paramLabel = "N",
      description = "The most tasks at a time over all queues; 0 takes no more, none is no limit.")
  private String maxthreads = "";

  NodeSetCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    String path = NodesCommands.PATH + "/" + JsonCalls.part(node);
    ObjectNode fields = JsonNodeFactory.instance.objectNode();
    fields.set("maxthreads", Limits.read("--maxthreads", maxthreads));
    JsonNode found = named(() -> calls.get(path));
    JsonNode answer = calls.post(path, fields);
    print(answer, "set maxthreads of node " + found.path("node").asString(node));
    return ExitCode.OK;
  }
}

package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Changes the data of a node. */
@Command(
    name = "set",
    description = {
      "Changes data of a node, one value after the other: what its type reads while it waits, what"
          + " is yours at any time."
    })
final class SetCommand extends GraphCommand {
  @Parameters(index = "0", paramLabel = "ID", description = "The id of the node.")
  private String id = "";

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "KEY=VALUE",
      description = {
        "A value, JSON or else text; null unsets it, and KEY=@FILE takes the text of a file."
      })
  private List<String> pairs = List.of();

  SetCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    String node = NodeArguments.checked(id);
    ObjectNode values = JsonNodeFactory.instance.objectNode();
    pairs.forEach(pair -> DataOptions.addPair(values, pair, terminal()));
    values
        .properties()
        .forEach(each -> {
          ObjectNode body = JsonNodeFactory.instance.objectNode().set("value", each.getValue());
          String path = GraphCalls.path(node, each.getKey());
          print(thereOrRefused(() -> calls.put(path, body)), node + "  " + each.getKey());
        });
    return ExitCode.OK;
  }
}

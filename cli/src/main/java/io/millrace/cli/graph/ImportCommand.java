package io.millrace.cli.graph;

import io.millrace.cli.graph.file.GraphFile;
import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.store.StoreException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Adds the graph of a file. */
@Command(
    name = "import",
    description = {
      "Adds the graph of a file, as export writes it, and prints the id that each node has got. All"
          + " of it begins anew, whatever state it was in. Up to 1000 nodes go in one request, so a"
          + " larger graph may begin before all of it is there, and remain in part when the server"
          + " goes; 'run' adds all or nothing."
    })
final class ImportCommand extends GraphCommand {
  private static final int MOST_NODES = 1_000;

  @Mixin private FileArgument file = new FileArgument();

  ImportCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    GraphFile graph = file.read(terminal());
    Addition addition = new Addition(new GraphCalls(calls), file.name(), file.parents());
    try {
      addition.add(graph, MOST_NODES);
    } catch (StoreException | CommandException e) {
      print(addition);
      boolean refused =
          e instanceof CommandException
              || (e instanceof RejectedException rejected && isAboutTheRequest(rejected));
      String before =
          addition.ids().isEmpty() ? "" : "; " + addition.ids().size() + " nodes were added before";
      throw new CommandException(
          refused ? ExitCode.REFUSED : ExitCode.FAILURE, e.getMessage() + before, e);
    }
    print(addition);
    return ExitCode.OK;
  }

  private void print(Addition addition) {
    if (addition.ids().isEmpty()) {
      return;
    }
    if (json()) {
      ObjectNode ids = JsonNodeFactory.instance.objectNode();
      addition.ids().forEach(ids::put);
      out().println(ids);
    } else {
      addition.ids().forEach((key, id) -> out().println(Table.printable(key) + "  " + id));
    }
  }
}

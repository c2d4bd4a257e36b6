package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Operates graph nodes, each by itself. */
abstract class OperateCommand extends GraphCommand {
  @Mixin private NodeArguments nodes = new NodeArguments();

  OperateCommand(Terminal terminal) {
    super(terminal);
  }

  /** Operates one node and prints the result. */
  abstract void operate(JsonCalls calls, String id);

  @Command(
      name = "retry",
      description =
          "Offers nodes again that failed or were killed; of a group, all such nodes in it. What"
              + " they block goes on when they finish.")
  static final class Retry extends OperateCommand {
    Retry(Terminal terminal) {
      super(terminal);
    }

    @Override
    void operate(JsonCalls calls, String id) {
      JsonNode answer =
          calls.post(GraphCalls.path(id) + "/retry", JsonNodeFactory.instance.objectNode());
      print(answer, id + "  " + answer.path("state").asString("ready"));
    }
  }

  @Command(
      name = "rm",
      description = "Removes nodes with their data. Those that run are to be killed first.")
  static final class Remove extends OperateCommand {
    @Option(
        names = {"-b", "--below"},
        description =
            "With what is below them. What has another parent that stays, or merely comes after"
                + " one of them, stays.")
    private boolean below;

    @Option(
        names = {"-a", "--alone"},
        description =
            "Without what is below them: that gets their parents in their place, and runs once"
                + " those have finished.")
    private boolean alone;

    Remove(Terminal terminal) {
      super(terminal);
    }

    @Override
    void operate(JsonCalls calls, String id) {
      if (below && alone) {
        throw new UsageException("--below and --alone exclude each other");
      }
      String how = below ? "?below=true" : alone ? "?below=false" : "";
      JsonNode answer = calls.delete(GraphCalls.path(id) + how);
      int removed = answer.path("removed").asInt(1);
      print(answer, id + "  removed" + (removed > 1 ? ", " + removed + " nodes in all" : ""));
    }
  }

  @Override
  protected final int run(JsonCalls calls) throws IOException {
    return each(calls, nodes.read(terminal()), id -> operate(calls, id));
  }
}

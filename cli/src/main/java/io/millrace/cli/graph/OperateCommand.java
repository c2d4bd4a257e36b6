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

/** Does one thing to nodes, to each by itself. */
abstract class OperateCommand extends GraphCommand {
  private static final int NOT_THERE = 404;

  @Mixin private NodeArguments nodes = new NodeArguments();

  OperateCommand(Terminal terminal) {
    super(terminal);
  }

  /** Does it to one, and says so. */
  abstract void operate(JsonCalls calls, String id);

  /** Offers failed nodes again. */
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

  /** Removes nodes. */
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

  /** Tries all of them, also when one is refused. */
  @Override
  protected final int run(JsonCalls calls) throws IOException {
    int code = ExitCode.OK;
    List<String> ids = nodes.read(terminal());
    for (String id : ids) {
      try {
        operate(calls, id);
      } catch (RejectedException e) {
        if (!isAboutTheRequest(e)) {
          throw e;
        }
        terminal().err().println("millrace: " + Table.printable(String.valueOf(e.getMessage())));
        code = Math.max(code, e.status() == NOT_THERE ? ExitCode.NOTHING : ExitCode.REFUSED);
      }
    }
    return code;
  }
}

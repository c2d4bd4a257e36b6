package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Operates graph nodes, each by itself. */
abstract class OperateCommand extends GraphCommand {
  @Mixin private GraphCommand.NodeArguments nodes = new GraphCommand.NodeArguments();

  /** Operates one node and prints the result. */
  abstract void operate(JsonCalls calls, String id);

  @Command(
      name = "retry",
      description =
          "Runs nodes again that failed or were killed; for a group, all such nodes in it. The"
              + " nodes that they block go on once they have finished.")
  static final class Retry extends OperateCommand {
    @Override
    void operate(JsonCalls calls, String id) {
      JsonNode answer =
          calls.post(GraphCalls.path(id) + "/retry", JsonNodeFactory.instance.objectNode());
      print(answer, id + "  " + answer.path("state").asString("ready"));
    }
  }

  @Command(
      name = "rm",
      description = "Removes nodes with their data. Running nodes must be killed first.")
  static final class Remove extends OperateCommand {
    @Option(
        names = {"-b", "--below"},
        description =
            "Also removes the nodes below them, except nodes with another parent that stays.")
    private boolean below;

    @Option(
        names = {"-a", "--alone"},
        description =
            "Keeps the nodes below them, which get their parents instead and run once those have"
                + " finished.")
    private boolean alone;

    @Override
    void operate(JsonCalls calls, String id) {
      if (below && alone) {
        throw new UsageException("--below and --alone cannot be combined");
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

  /** Puts nodes elsewhere, or names them anew. */
  @Command(
      name = "mv",
      description =
          "Moves waiting nodes with all nodes below them, or renames nodes. Only what an option"
              + " names is changed.")
  static final class Move extends OperateCommand {
    private static final String NONE = "none";
    private static final Set<String> BRANCHES = Set.of("then", "else", NONE);

    @Option(
        names = {"-p", "--parent"},
        paramLabel = "ID",
        split = ",",
        description = "The new parent, or root; can be repeated.")
    private List<String> parents = List.of();

    @Option(
        names = "--after",
        paramLabel = "ID",
        split = ",",
        description =
            "The nodes that must have ended first; none for no such node. Replaces the former"
                + " ones.")
    private List<String> after = List.of();

    @Option(
        names = "--branch",
        paramLabel = "then|else|none",
        description = "The branch of the parent condition to run on.")
    private @Nullable String branch;

    @Option(
        names = {"-n", "--name"},
        paramLabel = "NAME",
        description = "The new name; empty for no name.")
    private @Nullable String name;

    @Override
    void operate(JsonCalls calls, String id) {
      ObjectNode change = change();
      if (change.isEmpty()) {
        throw new UsageException("name what to change: --parent, --after, --branch or --name");
      }
      print(calls.patch(GraphCalls.path(id), change), id + "  moved");
    }

    private ObjectNode change() {
      ObjectNode change = JsonNodeFactory.instance.objectNode();
      if (!parents.isEmpty()) {
        ArrayNode above = change.putArray("parents");
        parents.forEach(id -> above.add(GraphCommand.NodeArguments.parent(id)));
      }
      if (!after.isEmpty()) {
        ArrayNode before = change.putArray("after");
        if (!after.equals(List.of(NONE))) {
          after.forEach(id -> before.add(GraphCommand.NodeArguments.checked(id)));
        }
      }
      if (branch != null) {
        if (!BRANCHES.contains(branch)) {
          throw new UsageException("--branch is then, else or none, not '" + branch + "'");
        }
        change.put("branch", branch.equals(NONE) ? null : branch);
      }
      if (name != null) {
        change.put("name", name.isEmpty() ? null : name);
      }
      return change;
    }
  }

  /** Changes the data of a node. */
  @Command(
      name = "set",
      description = {
        "Changes data of a node, one value after the other. Data that its type reads can be changed"
            + " while the node waits, other data at any time."
      })
  static final class SetData extends GraphCommand {
    @Parameters(index = "0", paramLabel = "ID", description = "The id of the node.")
    private String id = "";

    @Parameters(
        index = "1..*",
        arity = "1..*",
        paramLabel = "KEY=VALUE",
        description = {
          "A value that is JSON is taken as JSON, others as text; null removes the key, KEY=@FILE"
              + " takes the text of a file."
        })
    private List<String> pairs = List.of();

    @Override
    protected int run(JsonCalls calls) {
      String node = GraphCommand.NodeArguments.checked(id);
      ObjectNode values = JsonNodeFactory.instance.objectNode();
      pairs.forEach(pair -> AddCommand.DataOptions.addPair(values, pair, terminal()));
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
}

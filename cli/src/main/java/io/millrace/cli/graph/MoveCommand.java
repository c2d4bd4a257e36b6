package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Puts nodes elsewhere, or names them anew. */
@Command(
    name = "mv",
    description =
        "Moves nodes that wait, with what is below them, and names nodes anew. What no option says"
            + " stays as it is.")
final class MoveCommand extends OperateCommand {
  private static final String NONE = "none";
  private static final Set<String> BRANCHES = Set.of("then", "else", NONE);

  @Option(
      names = {"-p", "--parent"},
      paramLabel = "ID",
      split = ",",
      description = "The node that they are to be below, or root; may come several times.")
  private List<String> parents = List.of();

  @Option(
      names = "--after",
      paramLabel = "ID",
      split = ",",
      description = "The nodes that they are to come after, all of them; none for nothing.")
  private List<String> after = List.of();

  @Option(
      names = "--branch",
      paramLabel = "then|else|none",
      description = "The branch of the condition above them.")
  private @Nullable String branch;

  @Option(
      names = {"-n", "--name"},
      paramLabel = "NAME",
      description = "What people are to call them; empty for nothing.")
  private @Nullable String name;

  MoveCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void operate(JsonCalls calls, String id) {
    ObjectNode change = change();
    if (change.isEmpty()) {
      throw new UsageException("say what is to change: --parent, --after, --branch or --name");
    }
    print(calls.patch(GraphCalls.path(id), change), id + "  moved");
  }

  private ObjectNode change() {
    ObjectNode change = JsonNodeFactory.instance.objectNode();
    if (!parents.isEmpty()) {
      ArrayNode above = change.putArray("parents");
      parents.forEach(id -> above.add(NodeArguments.parent(id)));
    }
    if (!after.isEmpty()) {
      ArrayNode before = change.putArray("after");
      if (!after.equals(List.of(NONE))) {
        after.forEach(id -> before.add(NodeArguments.checked(id)));
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

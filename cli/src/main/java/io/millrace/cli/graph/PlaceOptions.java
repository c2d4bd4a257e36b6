package io.millrace.cli.graph;

import io.millrace.cli.terminal.UsageException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** Where a new node is to be, as options. */
final class PlaceOptions {
  @Option(
      names = {"-p", "--parent"},
      paramLabel = "ID",
      split = ",",
      description = "A node that it is below; may come several times. Default: root")
  private List<String> parents = List.of();

  @Option(
      names = "--after",
      paramLabel = "ID",
      split = ",",
      description = "A node that it comes after without being below it, as a group.")
  private List<String> after = List.of();

  @Option(
      names = "--branch",
      paramLabel = "then|else",
      description = "The branch of the condition above it that it is on.")
  private @Nullable String branch;

  @Option(names = "--always", description = "Runs however what is above it ended.")
  private boolean always;

  @Option(
      names = {"-n", "--name"},
      paramLabel = "NAME",
      description = "What people call it.")
  private @Nullable String name;

  /**
   * Adds what was given to the metadata of a node.
   *
   * @throws UsageException when something of it makes no sense
   */
  void addTo(ObjectNode metadata) {
    if (name != null) {
      metadata.put("name", name);
    }
    var above = metadata.putArray("parents");
    parents.forEach(id -> above.add(NodeArguments.parent(id)));
    if (parents.isEmpty()) {
      above.add("root");
    }
    if (!after.isEmpty()) {
      var before = metadata.putArray("after");
      after.forEach(id -> before.add(NodeArguments.checked(id)));
    }
    if (branch != null) {
      if (!branch.equals("then") && !branch.equals("else")) {
        throw new UsageException("--branch is then or else, not '" + branch + "'");
      }
      metadata.put("branch", branch);
    }
    if (always) {
      metadata.put("always", true);
    }
  }
}

package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.UsageException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code millrace graph}: the commands on graphs. */
@Command(
    name = "graph",
    description = "Runs graphs of commands: adds, shows, watches and changes nodes.",
    addMethodSubcommands = false)
public final class GraphCommands extends CommandGroup {
  private static final Map<String, String> ENDS =
      Map.of(
          "6", "a node failed, was killed or is blocked",
          "7", "--timeout expired before all nodes had ended");
  private static final String NONE = "none";
  private static final Set<String> BRANCHES = Set.of("then", "else", NONE);

  /** The group with its commands. */
  public CommandLine group() {
    CommandLine graph = with();
    add(
        graph,
        ENDS,
        new RunCommand(),
        new AddCommand(),
        "waitFor",
        new WatchCommand(),
        new OutputCommand());
    add(
        graph,
        Map.of(),
        new ShowCommand(),
        new KillCommand(),
        "retry",
        "move",
        "set",
        "remove",
        new ExportCommand(),
        new ImportCommand());
    // Options after the first word of the command belong to that command.
    Objects.requireNonNull(graph.getSubcommands().get("add")).setStopAtPositional(true);
    return graph;
  }

  @Command(name = "wait", description = "Waits until nodes have ended; the exit code says how.")
  int waitFor(
      @Mixin GraphServer server,
      @Mixin GraphServer.Nodes nodes,
      @Mixin Waiter.Options options,
      @Option(
              names = "--settled",
              description =
                  "Does not wait for blocked nodes. Without it, a blocked node is waited for until"
                      + " the node that blocks it is retried and finishes.")
          boolean settled,
      @Option(
              names = {"-q", "--quiet"},
              description = "Prints only nodes that did not succeed.")
          boolean quiet) {
    return server.run(calls -> {
      List<String> ids = nodes.read(terminal());
      NodeWaiter.WaitOptions ends = new NodeWaiter.WaitOptions(options.endNanos(), settled, quiet);
      return new NodeWaiter(calls, server, ends).until(ids);
    });
  }

  @Command(
      name = "retry",
      description =
          "Runs nodes again that failed or were killed; for a group, all such nodes in it. The"
              + " nodes that they block go on once they have finished.")
  int retry(@Mixin GraphServer server, @Mixin GraphServer.Nodes nodes) {
    return server.run(calls ->
        server.each(
            nodes.read(terminal()),
            id -> calls.post(GraphCalls.path(id) + "/retry", ServerCommand.object()),
            response -> response.path("state").asString("ready")));
  }

  @Command(
      name = "mv",
      description =
          "Moves waiting nodes with all nodes below them, or renames nodes. Only what an option"
              + " names is changed.")
  int move(
      @Mixin GraphServer server,
      @Mixin GraphServer.Nodes nodes,
      @Option(
              names = {"-p", "--parent"},
              paramLabel = "ID",
              split = ",",
              description = "The new parent, or root; can be repeated.")
          @Nullable List<String> parents,
      @Option(
              names = "--after",
              paramLabel = "ID",
              split = ",",
              description =
                  "The ids of nodes that must have ended first, or the word none. Replaces the"
                      + " former ones.")
          @Nullable List<String> after,
      @Option(
              names = "--branch",
              paramLabel = "then|else|none",
              description = "The branch of the parent condition to run on.")
          @Nullable String branch,
      @Option(
              names = {"-n", "--name"},
              paramLabel = "NAME",
              description = "The new name; empty for no name.")
          @Nullable String name) {
    return server.run(calls -> {
      List<String> ids = nodes.read(terminal());
      ObjectNode change = ServerCommand.object();
      if (parents != null) {
        ArrayNode above = change.putArray("parents");
        parents.forEach(id -> above.add(GraphServer.parent(id)));
      }
      if (after != null) {
        ArrayNode before = change.putArray("after");
        if (!after.equals(List.of(NONE))) {
          after.forEach(id -> before.add(GraphServer.checked(id)));
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
      if (change.isEmpty()) {
        throw new UsageException("name what to change: --parent, --after, --branch or --name");
      }
      return server.each(ids, id -> calls.patch(GraphCalls.path(id), change), _ -> "moved");
    });
  }

  @Command(
      name = "set",
      description = {
        "Changes data of a node, one value after the other. Data that its type reads can be changed"
            + " while the node waits, other data at any time."
      })
  int set(
      @Mixin GraphServer server,
      @Parameters(index = "0", paramLabel = "ID", description = "The id of the node.") String id,
      @Parameters(
              index = "1..*",
              arity = "1..*",
              paramLabel = "KEY=VALUE",
              description = {
                "A value that is JSON is taken as JSON, others as text; null removes the key,"
                    + " KEY=@FILE takes the text of a file."
              })
          List<String> pairs) {
    return server.perform(calls -> {
      String node = GraphServer.checked(id);
      ObjectNode values = ServerCommand.object();
      pairs.forEach(pair -> AddCommand.DataOptions.addPair(values, pair, terminal()));
      values.forEachEntry((key, value) -> {
        ObjectNode body = ServerCommand.object().set("value", value);
        JsonNode response =
            ServerCommand.orNotFound(() -> calls.put(GraphCalls.path(node, key), body));
        server.print(response, node + "  " + key);
      });
    });
  }

  @Command(
      name = "rm",
      description = "Removes nodes with their data. Running nodes must be killed first.")
  int remove(
      @Mixin GraphServer server,
      @Mixin GraphServer.Nodes nodes,
      @Option(
              names = {"-b", "--below"},
              description =
                  "Also removes the nodes below them, except nodes with another parent that stays.")
          boolean below,
      @Option(
              names = {"-a", "--alone"},
              description =
                  "Keeps the nodes below them, which get their parents instead and run once those"
                      + " have finished.")
          boolean alone) {
    return server.run(calls -> {
      List<String> ids = nodes.read(terminal());
      if (below && alone) {
        throw new UsageException("--below and --alone cannot be combined");
      }
      String how = below ? "?below=true" : alone ? "?below=false" : "";
      return server.each(
          ids,
          id -> calls.delete(GraphCalls.path(id) + how),
          response -> {
            int removed = response.path("removed").asInt(1);
            return removed > 1 ? "removed, " + removed + " nodes in all" : "removed";
          });
    });
  }
}

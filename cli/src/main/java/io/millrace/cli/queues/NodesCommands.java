package io.millrace.cli.queues;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.client.JsonCalls;
import java.time.Instant;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code millrace nodes}: the commands on execution nodes. */
@Command(
    name = "nodes",
    description = "Lists and removes execution nodes, and sets their limits.",
    addMethodSubcommands = false)
public final class NodesCommands extends CommandGroup {
  private static final String PATH = "/dci/nodes";
  private static final Fields.Columns COLUMNS =
      new Fields.Columns()
          .fields("node", "state", "maxthreads")
          .with("REFRESHED", node -> Instant.ofEpochMilli(node.path("timestamp").asLong(0)));

  /** The group with its commands. */
  public CommandLine group() {
    return with("list", "set", "remove");
  }

  private static String path(String node) {
    return PATH + "/" + JsonCalls.part(node);
  }

  private static String name(JsonCalls calls, String node) {
    JsonNode found = ServerCommand.lookUp(() -> calls.read(path(node)));
    return found.path("node").asString(node);
  }

  @Command(
      name = "list",
      description = {
        "Lists the execution nodes.",
        "The state of a node is alive, dead (no heartbeat for five seconds) or left."
      })
  int list(@Mixin ServerCommand.Reading server) {
    return server.perform(calls -> server.printRows(calls.read(PATH), COLUMNS));
  }

  @Command(
      name = "set",
      description = "Sets how many tasks a node runs at a time. Running tasks are not affected.")
  int set(
      @Mixin ServerCommand server,
      @Option(
              names = {"-m", "--maxthreads"},
              required = true,
              paramLabel = "N",
              description =
                  "The most tasks at a time over all queues; 0 for no tasks, none for no limit.")
          String maxthreads,
      @Parameters(paramLabel = "NODE", description = "The name or id of the node.") String node) {
    return server.perform(calls -> {
      ObjectNode fields = ServerCommand.object();
      fields.set("maxthreads", Arguments.limit("--maxthreads", maxthreads));
      String name = name(calls, node);
      server.print(calls.post(path(node), fields), "set maxthreads of node " + name);
    });
  }

  @Command(
      name = "remove",
      description = {
        "Removes a node that is dead or has left, with its maxthreads.",
        "Its configuration is kept. The node is listed again when it starts again."
      })
  int remove(
      @Mixin ServerCommand server,
      @Parameters(paramLabel = "NODE", description = "The name or id of the node.") String node) {
    return server.perform(calls -> {
      String name = name(calls, node);
      server.print(calls.delete(path(node)), "removed node " + name);
    });
  }
}

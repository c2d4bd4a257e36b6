package io.millrace.cli.queues;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The commands on execution nodes and on what is configured for them. */
public final class NodesCommands {
  static final String PATH = "/dci/nodes";

  private NodesCommands() {}

  /** {@code nodes}, with all that belongs to it. */
  public static CommandLine nodes() {
    return CommandGroup.of(
        "nodes",
        "Lists and removes execution nodes, and sets their limits.",
        new ListNodes(),
        new SetNode(),
        new RemoveNode());
  }

  /** {@code config}, with all that belongs to it. */
  public static CommandLine config() {
    return CommandGroup.of(
        "config",
        "Shows and changes the configuration of execution nodes.",
        new ShowConfig(),
        new SetConfig());
  }

  /** Lists execution nodes. */
  @Command(
      name = "list",
      description = {
        "Lists the execution nodes.",
        "The state of a node is alive, dead (no heartbeat for five seconds) or left."
      })
  private static final class ListNodes extends RemoteCommand {
    @Override
    protected int run(JsonCalls calls) {
      JsonNode nodes = calls.get(NodesCommands.PATH);
      if (json()) {
        out().println(nodes);
        return ExitCode.OK;
      }
      Table table = new Table("NODE", "STATE", "MAXTHREADS", "REFRESHED");
      for (JsonNode node : nodes) {
        table.row(
            Fields.text(node.path("node")),
            Fields.text(node.path("state")),
            Fields.text(node.path("maxthreads")),
            Instant.ofEpochMilli(node.path("timestamp").asLong(0)));
      }
      table.print(out());
      return ExitCode.OK;
    }
  }

  /** Sets the limit of a node. */
  @Command(
      name = "set",
      description = "Sets how many tasks a node runs at a time. Running tasks are not affected.")
  private static final class SetNode extends RemoteCommand {
    @Parameters(paramLabel = "NODE", description = "The name or id of the node.")
    private String node = "";

    @Option(
        names = {"-m", "--maxthreads"},
        required = true,
        paramLabel = "N",
        description =
            "The most tasks at a time over all queues; 0 for no tasks, none for no limit.")
    private String maxthreads = "";

    @Override
    protected int run(JsonCalls calls) {
      String path = NodesCommands.PATH + "/" + JsonCalls.part(node);
      ObjectNode fields = JsonNodeFactory.instance.objectNode();
      fields.set("maxthreads", Arguments.limit("--maxthreads", maxthreads));
      JsonNode found = named(() -> calls.get(path));
      JsonNode answer = calls.post(path, fields);
      print(answer, "set maxthreads of node " + found.path("node").asString(node));
      return ExitCode.OK;
    }
  }

  /** Removes a node. */
  @Command(
      name = "remove",
      description = {
        "Removes a node that is dead or has left, with its maxthreads.",
        "Its configuration is kept. The node is listed again when it starts again."
      })
  private static final class RemoveNode extends RemoteCommand {
    @Parameters(paramLabel = "NODE", description = "The name or id of the node.")
    private String node = "";

    @Override
    protected int run(JsonCalls calls) {
      String path = NodesCommands.PATH + "/" + JsonCalls.part(node);
      JsonNode found = named(() -> calls.get(path));
      print(calls.delete(path), "removed node " + found.path("node").asString(node));
      return ExitCode.OK;
    }
  }

  /** Shows what is configured. */
  @Command(name = "show", description = "Shows the configuration of all nodes, or of one.")
  private static final class ShowConfig extends RemoteCommand {
    @Option(
        names = "--node",
        paramLabel = "NODE",
        description = "Shows only what is set for this node.")
    private @Nullable String node;

    @Override
    protected int run(JsonCalls calls) {
      JsonNode fields = calls.get(SetConfig.path(node));
      if (json()) {
        out().println(fields);
      } else {
        Fields.print(out(), fields);
      }
      return ExitCode.OK;
    }
  }

  /** Changes what is configured. */
  @Command(
      name = "set",
      description = "Changes the configuration of all nodes, or of one. It takes effect at once.")
  private static final class SetConfig extends RemoteCommand {
    @Parameters(
        arity = "1..*",
        paramLabel = "KEY=VALUE",
        description =
            "For example activequeues='[\"demo\"]' or log_level=debug; KEY=null removes a value.")
    private List<String> pairs = List.of();

    @Option(names = "--node", paramLabel = "NODE", description = "Changes only this node.")
    private @Nullable String node;

    @Override
    protected int run(JsonCalls calls) {
      ObjectNode fields = Arguments.object(pairs);
      fields.forEachEntry(SetConfig::check);
      JsonNode answer = calls.post(path(node), fields);
      print(answer, "set " + String.join(", ", fields.propertyNames()));
      warnOfUnknownQueues(calls, fields);
      return ExitCode.OK;
    }

    /** They may be created later, so this is no error. */
    private void warnOfUnknownQueues(JsonCalls calls, ObjectNode fields) {
      for (String field : List.of("activequeues", "ignorequeues")) {
        JsonNode value = fields.path(field);
        List<String> names = value.isArray() ? texts(value) : texts(fields.arrayNode().add(value));
        List<JsonNode> queues = names.isEmpty() ? List.of() : QueueCalls.all(calls);
        for (String name : names) {
          boolean known =
              queues.stream()
                  .anyMatch(queue ->
                      queue.path("id").asString("").equals(name)
                          || queue.path("name").asString("").equals(name));
          if (!known) {
            terminal()
                .err()
                .println("warning: " + field + " names " + name + ", which is no queue");
          }
        }
      }
    }

    private static List<String> texts(JsonNode array) {
      return array.valueStream().filter(JsonNode::isString).map(JsonNode::asString).toList();
    }

    /** What begins as JSON was meant to be some, and is no name. */
    private static void check(String field, JsonNode value) {
      String text = value.asString("");
      if (value.isString() && (text.startsWith("[") || text.startsWith("{"))) {
        throw new UsageException(field + " begins as JSON and is none: " + text);
      }
    }

    static String path(@Nullable String node) {
      if (node != null && node.isBlank()) {
        throw new UsageException("--node is empty; without it all nodes are meant");
      }
      return node == null ? "/dci/config" : "/dci/config?node=" + JsonCalls.part(node);
    }
  }
}

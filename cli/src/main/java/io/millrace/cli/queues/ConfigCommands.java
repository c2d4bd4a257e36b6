package io.millrace.cli.queues;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code millrace config}: the commands on the configuration of execution nodes. */
@Command(
    name = "config",
    description = "Shows and changes the configuration of execution nodes.",
    addMethodSubcommands = false)
public final class ConfigCommands extends CommandGroup {
  /** The group with its commands. */
  public CommandLine group() {
    return with("show", "set");
  }

  @Command(name = "show", description = "Shows the configuration of all nodes, or of one.")
  int show(
      @Mixin ServerCommand server,
      @Option(
              names = "--node",
              paramLabel = "NODE",
              description = "Shows only what is set for this node.")
          @Nullable String node) {
    return server.perform(calls -> server.printFields(calls.get(path(node))));
  }

  @Command(
      name = "set",
      description = "Changes the configuration of all nodes, or of one. It takes effect at once.")
  int set(
      @Mixin ServerCommand server,
      @Parameters(
              arity = "1..*",
              paramLabel = "KEY=VALUE",
              description =
                  "For example activequeues='[\"demo\"]' or log_level=debug; KEY=null removes a"
                      + " value.")
          List<String> pairs,
      @Option(names = "--node", paramLabel = "NODE", description = "Changes only this node.")
          @Nullable String node) {
    return server.perform(calls -> {
      ObjectNode fields = Arguments.object(pairs);
      fields.forEachEntry(ConfigCommands::check);
      JsonNode response = calls.post(path(node), fields);
      server.print(response, "set " + String.join(", ", fields.propertyNames()));
      warnOfUnknownQueues(calls, fields);
    });
  }

  /** This is not an error, since the queues may be created later. */
  private void warnOfUnknownQueues(JsonCalls calls, ObjectNode fields) {
    for (String field : List.of("activequeues", "ignorequeues")) {
      JsonNode value = fields.path(field);
      List<String> names = texts(value.isArray() ? value : fields.arrayNode().add(value));
      JsonNode queues = names.isEmpty() ? fields.arrayNode() : QueuesCommands.all(calls);
      for (String name : names) {
        boolean known =
            queues
                .valueStream()
                .anyMatch(queue ->
                    queue.path("id").asString("").equals(name)
                        || queue.path("name").asString("").equals(name));
        if (!known) {
          terminal()
              .err()
              .println("warning: " + field + " names " + name + ", which is not a queue");
        }
      }
    }
  }

  private static List<String> texts(JsonNode array) {
    return array.valueStream().filter(JsonNode::isString).map(JsonNode::asString).toList();
  }

  /** Refuses text that begins like JSON: it is a mistyped list or object. */
  private static void check(String field, JsonNode value) {
    String text = value.asString("");
    if (value.isString() && (text.startsWith("[") || text.startsWith("{"))) {
      throw new UsageException(field + " begins like JSON, but is not valid JSON: " + text);
    }
  }

  private static String path(@Nullable String node) {
    if (node != null && node.isBlank()) {
      throw new UsageException("--node is empty; leave it out for all nodes");
    }
    return node == null ? "/dci/config" : "/dci/config?node=" + JsonCalls.part(node);
  }
}

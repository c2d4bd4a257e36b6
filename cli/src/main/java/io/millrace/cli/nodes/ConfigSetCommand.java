package io.millrace.cli.nodes;

import io.millrace.cli.queues.QueueCalls;
import io.millrace.cli.remote.KeyValues;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Changes what is configured. */
@Command(
    name = "set",
    description = "Sets what is configured for all nodes, or for one; nodes take it up at once.")
final class ConfigSetCommand extends RemoteCommand {
  @Parameters(
      arity = "1..*",
      paramLabel = "KEY=VALUE",
      description = "As activequeues='[\"demo\"]' or log_level=debug; KEY=null unsets.")
  private List<String> pairs = List.of();

  @Option(names = "--node", paramLabel = "NODE", description = "Only for this node.")
  private @Nullable String node;

  ConfigSetCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    ObjectNode fields = KeyValues.object(pairs);
    fields.forEachEntry(ConfigSetCommand::check);
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
          terminal().err().println("warning: " + field + " names " + name + ", which is no queue");
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

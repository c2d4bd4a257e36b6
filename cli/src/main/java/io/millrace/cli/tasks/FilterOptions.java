package io.millrace.cli.tasks;

import io.millrace.cli.queues.QueueCalls;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.KeyValues;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Which tasks are meant. */
final class FilterOptions {
  @Option(
      names = {"-Q", "--queue"},
      paramLabel = "QUEUE",
      description = "Of this queue.")
  private @Nullable String queue;

  @Option(
      names = {"-s", "--status"},
      split = ",",
      paramLabel = "STATUS",
      converter = StatusWord.class,
      description = "With one of these statuses, as failed or -7.")
  private List<Integer> statuses = List.of();

  @Option(names = "--node", paramLabel = "NODE", description = "That run or ran on this node.")
  private @Nullable String node;

  @Option(
      names = "--param",
      paramLabel = "KEY=VALUE",
      description = "Whose param has this value; dots lead inwards.")
  private List<String> params = List.of();

  @Option(
      names = "--filter",
      paramLabel = "JSON",
      description = "That fit this filter, as '{\"mtime\":{\"$gt\":1767225600}}'.")
  private @Nullable String filter;

  /** The filter as the server takes it. */
  ObjectNode read(JsonCalls calls) {
    ObjectNode conditions = JsonNodeFactory.instance.objectNode();
    if (queue != null) {
      conditions.put("queue", Fields.id(QueueCalls.find(calls, queue)));
    }
    if (statuses.size() == 1) {
      conditions.put("status", statuses.getFirst());
    } else if (!statuses.isEmpty()) {
      ArrayNode in = conditions.putObject("status").putArray("$in");
      statuses.forEach(in::add);
    }
    if (node != null) {
      if (node.isBlank()) {
        throw new UsageException("--node is empty");
      }
      conditions.put("node", node);
    }
    for (Map.Entry<String, JsonNode> param : KeyValues.object(params).properties()) {
      conditions.set("params." + param.getKey(), param.getValue());
    }
    if (filter == null) {
      return conditions;
    }
    ObjectNode given = KeyValues.parseObject("--filter", filter);
    return conditions.isEmpty() ? given : both(conditions, given);
  }

  /** The same, and behind a task in the order of ids. */
  static ObjectNode beyond(ObjectNode conditions, String id, boolean ascending) {
    ObjectNode behind = JsonNodeFactory.instance.objectNode();
    behind.putObject("_id").putObject(ascending ? "$gt" : "$lt").put("$oid", id);
    return both(conditions, behind);
  }

  private static ObjectNode both(ObjectNode one, ObjectNode other) {
    ObjectNode both = JsonNodeFactory.instance.objectNode();
    both.putArray("$and").add(one).add(other);
    return both;
  }
}

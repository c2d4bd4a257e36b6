package io.millrace.server.graph.type;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/**
 * The run of a schedule to which a node belongs.
 *
 * @param schedule the name of the schedule
 * @param nominal the time of the run by the schedule
 * @param started when the schedule started it
 */
public record ScheduledRun(String schedule, Instant nominal, Instant started) {
  /** The keys of its parts in the data of a node. */
  static final List<String> KEYS = List.of("schedule", "nominal", "started");

  /** The same as data of a node. */
  public Map<String, JsonNode> data() {
    return Map.of(
        "schedule", StringNode.valueOf(schedule),
        "nominal", StringNode.valueOf(nominal.toString()),
        "started", StringNode.valueOf(started.toString()));
  }

  /** What the data of a node says; null if it does not, or if its keys mean something else. */
  static @Nullable ScheduledRun of(Map<String, JsonNode> data) {
    List<String> texts = new ArrayList<>();
    for (String key : KEYS) {
      JsonNode value = data.get(key);
      texts.add(value != null && value.isString() ? value.asString() : "");
    }
    try {
      return texts.getFirst().isEmpty()
          ? null
          : new ScheduledRun(
              texts.get(0), Instant.parse(texts.get(1)), Instant.parse(texts.get(2)));
    } catch (DateTimeParseException _) {
      return null;
    }
  }
}

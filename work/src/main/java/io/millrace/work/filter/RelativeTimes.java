package io.millrace.work.filter;

import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Times that count back from now: {@code {"$ago": "2h"}}. They become dates before a filter is
 * read, so that it means the same for as long as it is used.
 */
public final class RelativeTimes {
  private static final String AGO = "$ago";

  private RelativeTimes() {}

  /**
   * The same filter with dates instead.
   *
   * @throws FilterException if one is not a duration
   */
  public static ObjectNode resolve(ObjectNode filter, Instant now) {
    ObjectNode resolved = JsonNodeFactory.instance.objectNode();
    for (Map.Entry<String, JsonNode> field : filter.properties()) {
      resolved.set(field.getKey(), resolve(field.getValue(), now));
    }
    return resolved;
  }

  private static JsonNode resolve(JsonNode value, Instant now) {
    return switch (value) {
      case ObjectNode object when object.size() == 1 && object.has(AGO) ->
          JsonNodeFactory.instance.objectNode().put("$date", now.minus(ago(object)).toEpochMilli());
      case ObjectNode object -> resolve(object, now);
      case ArrayNode array -> {
        ArrayNode resolved = JsonNodeFactory.instance.arrayNode();
        array.forEach(element -> resolved.add(resolve(element, now)));
        yield resolved;
      }
      default -> value;
    };
  }

  private static Duration ago(ObjectNode object) {
    try {
      return TimeText.duration(AGO, object.required(AGO).asString(""));
    } catch (PolicyException e) {
      throw new FilterException(String.valueOf(e.getMessage()));
    }
  }
}

package io.millrace.server.queues;

import io.millrace.http.json.Json;
import io.millrace.wire.JsonErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The params of many tasks: a JSON array of objects, none empty. It is checked as a whole before
 * the first task is created, and then read in parts, so that a large array is never in memory as a
 * tree.
 */
final class TaskArray {
  static final int MOST = 1_000_000;

  static final String WRONG = "params must be a JSON array of task params objects";

  private static final int PART = 4_000;

  private static final JsonMapper ELEMENTS =
      Json.MAPPER.rebuild().disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  private final byte[] body;

  private TaskArray(byte[] body) {
    this.body = body;
  }

  /**
   * Checks a body.
   *
   * @throws Refusal if it is something else
   */
  static TaskArray of(byte[] body) {
    int count;
    try (JsonParser json = ELEMENTS.createParser(body)) {
      count = count(json);
    } catch (JacksonException e) {
      throw Refusal.of(WRONG, "detail", JsonErrors.message(e));
    }
    if (count == 0) {
      throw Refusal.of(WRONG);
    }
    if (count > MOST) {
      throw Refusal.of("one request creates at most " + MOST + " tasks, not " + count);
    }
    return new TaskArray(body);
  }

  /** The number of objects; 0 if the body is not such an array. */
  private static int count(JsonParser json) {
    if (json.nextToken() != JsonToken.START_ARRAY) {
      return 0;
    }
    int count = 0;
    JsonToken token = json.nextToken();
    while (token == JsonToken.START_OBJECT) {
      if (json.nextToken() == JsonToken.END_OBJECT) {
        return 0;
      }
      for (int depth = 1; depth > 0; ) {
        JsonToken next = json.nextToken();
        if (next == null) {
          return 0;
        }
        depth += next.isStructStart() ? 1 : next.isStructEnd() ? -1 : 0;
        if (next == JsonToken.VALUE_NUMBER_FLOAT) {
          Json.checkNumber(json);
        }
      }
      count++;
      token = json.nextToken();
    }
    return token == JsonToken.END_ARRAY && json.nextToken() == null ? count : 0;
  }

  /** Passes on all objects, some thousand at a time. */
  void read(Consumer<List<ObjectNode>> parts) {
    try (JsonParser json = ELEMENTS.createParser(body)) {
      json.nextToken();
      List<ObjectNode> part = new ArrayList<>(PART);
      while (json.nextToken() == JsonToken.START_OBJECT) {
        part.add(ELEMENTS.readValue(json, ObjectNode.class));
        if (part.size() == PART) {
          parts.accept(part);
          part.clear();
        }
      }
      if (!part.isEmpty()) {
        parts.accept(part);
      }
    }
  }
}

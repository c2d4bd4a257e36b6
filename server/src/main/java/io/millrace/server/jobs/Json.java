package io.millrace.server.jobs;

import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.wire.JsonMistake;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** JSON of this API. */
final class Json {
  /** The longest body that is JSON. */
  static final int MOST_BYTES = 1 << 20;

  static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static ArrayNode array() {
    return MAPPER.createArrayNode();
  }

  static byte[] bytes(JsonNode json) {
    return MAPPER.writeValueAsBytes(json);
  }

  static Reply reply(JsonNode json) {
    return Reply.json(bytes(json));
  }

  static Reply.Whole reply(int status, JsonNode json) {
    return Reply.json(status, bytes(json));
  }

  /**
   * The object that a body is.
   *
   * @throws HttpProblem 400 where it is none
   */
  static ObjectNode body(Request request) throws IOException {
    return body(request, MOST_BYTES);
  }

  /** The same of a body of at most {@code mostBytes}. */
  static ObjectNode body(Request request, int mostBytes) throws IOException {
    byte[] body = request.body(mostBytes);
    try {
      if (MAPPER.readTree(body) instanceof ObjectNode object) {
        return object;
      }
    } catch (JacksonException e) {
      throw HttpProblem.malformed("the body is not JSON: " + JsonMistake.words(e));
    }
    throw HttpProblem.malformed("the body must be a JSON object");
  }

  /** A string; null where it is absent or null. */
  static @Nullable String text(ObjectNode object, String name) {
    JsonNode value = object.get(name);
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isString()) {
      throw HttpProblem.malformed(name + " must be a string or null, not " + value);
    }
    return value.asString();
  }
}

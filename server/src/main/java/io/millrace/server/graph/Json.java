package io.millrace.server.graph;

import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.wire.JsonMistake;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** JSON of this API. What is read here can be kept: it is checked for what no store could hold. */
final class Json {
  /** What is read here is stored some levels deeper, and must be readable there. */
  private static final int MOST_LEVELS = 200;

  static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(MOST_LEVELS)
                          .maxStringLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
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

  static Reply reply(int status, JsonNode json) {
    return Reply.json(status, bytes(json));
  }

  static Reply reply(int status, Map<String, String> headers, JsonNode json) {
    return new Reply.Whole(status, Reply.JSON, headers, bytes(json));
  }

  /**
   * What a body holds.
   *
   * @throws HttpProblem 400 where it is no JSON, or holds what cannot be kept
   */
  static JsonNode body(Request request) throws IOException {
    JsonNode body;
    try {
      body = MAPPER.readTree(request.jsonBody());
    } catch (JacksonException e) {
      throw HttpProblem.malformed("the body is not JSON: " + JsonMistake.words(e));
    } catch (NumberFormatException _) {
      throw HttpProblem.malformed("the body holds a number that is too large");
    }
    check(body);
    return body;
  }

  /** The object that a body is. */
  static ObjectNode objectBody(Request request) throws IOException {
    if (body(request) instanceof ObjectNode object) {
      return object;
    }
    throw HttpProblem.malformed("the body must be a JSON object");
  }

  private static void check(JsonNode value) {
    switch (value) {
      case ObjectNode object ->
          object
              .properties()
              .forEach(field -> {
                checkText(field.getKey());
                check(field.getValue());
              });
      case ArrayNode array -> array.forEach(Json::check);
      default -> {
        if (value.isString()) {
          checkText(value.asString());
        } else if (value.isNumber() && isTooLarge(value.decimalValue())) {
          throw HttpProblem.malformed("the body holds a number that is too large: " + value);
        }
      }
    }
  }

  /** Beyond what others that read it can hold. */
  private static boolean isTooLarge(BigDecimal number) {
    return Double.isInfinite(number.doubleValue());
  }

  private static void checkText(String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw HttpProblem.malformed("the body holds a half of a surrogate pair in a text");
    }
  }

  /**
   * Refuses fields that nobody would look at.
   *
   * @param what has these fields, for people
   */
  static void checkFields(String what, ObjectNode object, Set<String> known) {
    for (String name : object.propertyNames()) {
      if (!known.contains(name)) {
        throw HttpProblem.malformed(
            what
                + " has no field \""
                + name
                + "\", only "
                + String.join(", ", new TreeSet<>(known)));
      }
    }
  }

  /**
   * A string; null where it is absent or null.
   *
   * @param what the field is, for people
   */
  static @Nullable String text(String what, @Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isString()) {
      throw HttpProblem.malformed(what + " must be a string, not " + shortened(value));
    }
    return value.asString();
  }

  /** A value in an error, where it must not be long. */
  static String shortened(JsonNode value) {
    String text = value.toString();
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }
}

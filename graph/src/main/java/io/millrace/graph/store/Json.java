package io.millrace.graph.store;

import io.millrace.graph.GraphException;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/** The JSON of stored documents. */
final class Json {
  /** Numbers keep their digits, so that they are returned as they were given. */
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static StringNode text(String text) {
    return StringNode.valueOf(text);
  }

  static Bytes write(JsonNode value) {
    return Bytes.copyOf(MAPPER.writeValueAsBytes(value));
  }

  /** Whether lists and objects are nested more than this many times. */
  static boolean isDeeper(JsonNode value, int most) {
    if (!value.isContainer()) {
      return false;
    }
    return most == 0 || value.valueStream().anyMatch(inner -> isDeeper(inner, most - 1));
  }

  /** Reads the output of {@link #write}. */
  static JsonNode read(byte[] text) {
    try {
      return MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw new GraphException("a value of the graph is damaged: " + e.getOriginalMessage(), e);
    }
  }

  /** Reads a document whose body is an object. */
  static <T> T read(Document document, Function<ObjectNode, T> form) {
    try {
      if (MAPPER.readTree(document.body().toArray()) instanceof ObjectNode object) {
        return form.apply(object);
      }
    } catch (JacksonException | IllegalArgumentException e) {
      throw new GraphException(document.key() + " is damaged: " + e.getMessage(), e);
    }
    throw new GraphException(document.key() + " is damaged: it holds no object");
  }
}

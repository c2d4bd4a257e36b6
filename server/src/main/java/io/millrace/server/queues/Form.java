package io.millrace.server.queues;

import io.millrace.queues.ObjectId;
import io.millrace.server.http.Reply;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The JSON of this interface. */
final class Form {
  /** What is read here is stored a level or two deeper, and must be readable there. */
  private static final int MOST_LEVELS = 200;

  static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(MOST_LEVELS).build())
                  .build())
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          // Fractions keep the digits that they were sent with.
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .nodeFactory(new Decimals())
          .build();

  private Form() {}

  /**
   * Reads a value.
   *
   * @throws JacksonException when it is no JSON, or has a number that cannot be kept
   */
  static JsonNode read(byte[] text) {
    try {
      return JSON.readTree(text);
    } catch (NumberFormatException e) {
      throw Decimals.tooLarge(e);
    }
  }

  static ObjectNode object() {
    return JSON.createObjectNode();
  }

  static ArrayNode array() {
    return JSON.createArrayNode();
  }

  /** An id as MongoDB's clients know it. */
  static ObjectNode id(ObjectId id) {
    return object().put("$oid", id.hex());
  }

  static ArrayNode strings(List<String> values) {
    ArrayNode array = array();
    values.forEach(array::add);
    return array;
  }

  static Reply ok(JsonNode body) {
    return Reply.json(JSON.writeValueAsBytes(body));
  }

  static Reply ok(JsonNode body, boolean pretty) {
    return pretty
        ? Reply.json(JSON.writer().with(SerializationFeature.INDENT_OUTPUT).writeValueAsBytes(body))
        : ok(body);
  }

  static Reply.Whole reply(int status, JsonNode body) {
    return Reply.json(status, JSON.writeValueAsBytes(body));
  }
}

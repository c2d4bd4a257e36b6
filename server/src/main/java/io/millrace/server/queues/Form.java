package io.millrace.server.queues;

import io.millrace.http.json.Json;
import io.millrace.http.message.Reply;
import io.millrace.queues.ObjectId;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What the JSON of this interface has of its own. */
final class Form {
  private Form() {}

  /** An id as MongoDB's clients know it. */
  static ObjectNode id(ObjectId id) {
    return Json.object().put("$oid", id.hex());
  }

  static ArrayNode strings(List<String> values) {
    ArrayNode array = Json.array();
    values.forEach(array::add);
    return array;
  }

  static Reply reply(JsonNode body, boolean pretty) {
    return pretty
        ? Reply.json(
            Json.MAPPER.writer().with(SerializationFeature.INDENT_OUTPUT).writeValueAsBytes(body))
        : Json.reply(body);
  }
}

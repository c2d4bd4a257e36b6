package io.millrace.server.queues;

import io.millrace.http.json.Json;
import io.millrace.queues.ObjectId;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The result objects of MongoDB's driver, under their class names, as old clients read them. */
final class Results {
  private static final String INSERT_MANY = "MongoDB::InsertManyResult";

  private Results() {}

  private static ObjectNode named(String type, ObjectNode result) {
    result.putArray("write_errors");
    result.putArray("write_concern_errors");
    ObjectNode named = Json.object();
    named.set(type, result);
    return named;
  }

  static ObjectNode inserted(ObjectId id) {
    ObjectNode result = Json.object().put("acknowledged", true);
    result.set("inserted_id", Shapes.id(id));
    return named("MongoDB::InsertOneResult", result);
  }

  static ObjectNode updated(int matched, int modified) {
    ObjectNode result = Json.object().put("acknowledged", true);
    result.put("matched_count", matched);
    result.put("modified_count", modified);
    result.putNull("upserted_id");
    return named("MongoDB::UpdateResult", result);
  }

  static ObjectNode deleted(int count) {
    ObjectNode result = Json.object().put("acknowledged", true).put("deleted_count", count);
    return named("MongoDB::DeleteResult", result);
  }

  static ObjectNode inserted(List<ObjectId> ids) {
    ObjectNode result = Json.object().put("acknowledged", true);
    ArrayNode inserted = result.putArray("inserted");
    ObjectNode insertedIds = result.putObject("inserted_ids");
    for (int i = 0; i < ids.size(); i++) {
      JsonNode id = Shapes.id(ids.get(i));
      inserted.addObject().put("index", i).set("_id", id);
      insertedIds.set(Integer.toString(i), id);
    }
    return named(INSERT_MANY, result);
  }
}

package io.millrace.server.queues;

import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueBackend.Submitted;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
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

  static ObjectNode inserted(List<Submitted> tasks) {
    ObjectNode result = Json.object().put("acknowledged", true);
    ArrayNode inserted = result.putArray("inserted");
    ObjectNode insertedIds = result.putObject("inserted_ids");
    for (int i = 0; i < tasks.size(); i++) {
      JsonNode id = Shapes.id(tasks.get(i).id());
      ObjectNode one = inserted.addObject().put("index", i);
      one.set("_id", id);
      if (tasks.get(i).duplicate()) {
        one.put("duplicate", true);
      }
      insertedIds.set(Integer.toString(i), id);
    }
    return named(INSERT_MANY, result);
  }

  /**
   * The response to the creation of many tasks, the same as that of {@link Results}, written
   * without a tree: it is as long as the request, and has each id twice.
   */
  static final class InsertedForm {
    private static final String HEAD =
        "{\"MongoDB::InsertManyResult\":{\"acknowledged\":true,\"inserted\":[";
    private static final String MIDDLE = "],\"inserted_ids\":{";
    private static final String TAIL = "},\"write_errors\":[],\"write_concern_errors\":[]}}";
    private static final String OID = "{\"$oid\":\"";
    private static final String INDEX = "{\"index\":";
    private static final String ID = ",\"_id\":";
    private static final int HEX = 24;

    /** The size of the parts that are written. */
    private static final int PART = 8_000;

    private InsertedForm() {}

    static Response response(List<Submitted> tasks) {
      if (tasks.stream().anyMatch(Submitted::duplicate)) {
        return Json.response(inserted(tasks));
      }
      List<ObjectId> ids = tasks.stream().map(Submitted::id).toList();
      return new Response.Streamed(
          200, Response.JSON, Map.of(), length(ids.size()), target -> write(ids, target));
    }

    private static long length(int count) {
      long digits = 0;
      long end = 10;
      for (long begin = 0; begin < count; begin = end, end *= 10) {
        digits += (Math.min(end, count) - begin) * Long.toString(end - 1).length();
      }
      long id = (long) OID.length() + HEX + 2;
      long commas = Math.max(0, count - 1);
      long first = count * (INDEX.length() + ID.length() + id + 1) + digits + commas;
      long second = count * (id + 3) + digits + commas;
      return HEAD.length() + first + MIDDLE.length() + second + TAIL.length();
    }

    private static void write(List<ObjectId> ids, OutputStream target) throws IOException {
      StringBuilder text = new StringBuilder(PART).append(HEAD);
      for (int i = 0; i < ids.size(); i++) {
        text.append(i > 0 ? "," : "").append(INDEX).append(i).append(ID);
        id(ids.get(i), text).append('}');
        if (text.length() > PART) {
          flush(text, target);
        }
      }
      text.append(MIDDLE);
      for (int i = 0; i < ids.size(); i++) {
        text.append(i > 0 ? ",\"" : "\"").append(i).append("\":");
        id(ids.get(i), text);
        if (text.length() > PART) {
          flush(text, target);
        }
      }
      flush(text.append(TAIL), target);
    }

    private static StringBuilder id(ObjectId id, StringBuilder text) {
      return text.append(OID).append(id.hex()).append("\"}");
    }

    private static void flush(StringBuilder text, OutputStream target) throws IOException {
      target.write(text.toString().getBytes(StandardCharsets.US_ASCII));
      text.setLength(0);
    }
  }
}

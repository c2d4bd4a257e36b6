package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Queues as documents. */
final class QueueForm {
  /** The local name of the kernel task that stands for a definition. */
  static final String ADDED = "definition";

  private QueueForm() {}

  /** The document of a queue whose definition the same transaction adds as {@link #ADDED}. */
  static Bytes write(String name, String plugin, QueueSettings settings) {
    ObjectNode json = Json.object();
    json.put("name", name);
    json.put("plugin", plugin);
    json.put("threads", settings.threads());
    json.put("sort", settings.sort().word());
    write(json, "nodes_pin", settings.nodesPin());
    write(json, "nodes_ignore", settings.nodesIgnore());
    json.put("requeue_orphans", settings.requeueOrphans());
    Json.putAdded(json, "task", ADDED);
    return Json.write(json);
  }

  static Queue read(Document document) {
    ObjectNode json = Json.read(document.body());
    QueueSettings settings =
        new QueueSettings(
            Json.integer(json, "threads"),
            Sort.of(json.required("sort").asString()).orElse(Sort.DEFAULT),
            strings(json.get("nodes_pin")),
            strings(json.get("nodes_ignore")),
            json.path("requeue_orphans").asInt(0));
    return new Queue(
        new ObjectId(document.key().key()),
        json.required("name").asString(),
        json.required("plugin").asString(),
        settings,
        new Place(json.required("task").asLong(), document.version()));
  }

  static void write(ObjectNode json, String field, List<String> values) {
    ArrayNode array = json.putArray(field);
    values.forEach(array::add);
  }

  static List<String> strings(@Nullable JsonNode array) {
    List<String> values = new ArrayList<>();
    if (array != null) {
      array.forEach(value -> values.add(value.asString()));
    }
    return values;
  }
}

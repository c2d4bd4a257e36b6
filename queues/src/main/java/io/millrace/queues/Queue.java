package io.millrace.queues;

import io.millrace.queues.QueueHealth.Halt;
import io.millrace.queues.QueueHealth.Suspension;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A queue as it is stored.
 *
 * @param id its id
 * @param name its unique name
 * @param plugin the name of the plugin that runs its tasks
 * @param settings what an operator chose for it
 * @param health what keeps it from being served
 * @param place where it stands in the store; its kernel task is named by id
 */
public record Queue(
    ObjectId id,
    String name,
    String plugin,
    QueueSettings settings,
    QueueHealth health,
    Place place) {

  /** The group of kernel tasks that nodes claim from. */
  String waitingGroup() {
    return waitingGroup(id);
  }

  static String waitingGroup(ObjectId queue) {
    return "queues/" + queue.hex();
  }

  static String heldGroup(ObjectId queue) {
    return "queues/" + queue.hex() + "/held";
  }

  static String finishedGroup(ObjectId queue) {
    return "queues/" + queue.hex() + "/finished";
  }

  static boolean isFinishedGroup(String group) {
    return group.startsWith("queues/") && group.endsWith("/finished");
  }

  /** The group of the kernel task of a queue task with this status. */
  static String group(ObjectId queue, int status) {
    if (Status.isFinished(status)) {
      return finishedGroup(queue);
    }
    return Status.isHeld(status) ? heldGroup(queue) : waitingGroup(queue);
  }

  /** The local name of the kernel task that stands for a definition. */
  static final String ADDED = "definition";

  /** The document of a queue whose definition the same transaction adds as {@link #ADDED}. */
  static Bytes write(String name, String plugin, QueueSettings settings, QueueHealth health) {
    ObjectNode json = Json.object();
    json.put("name", name);
    json.put("plugin", plugin);
    json.put("threads", settings.threads());
    json.put("sort", settings.sort().word());
    write(json, "nodes_pin", settings.nodesPin());
    write(json, "nodes_ignore", settings.nodesIgnore());
    json.put("requeue_orphans", settings.requeueOrphans());
    write(json, health);
    Json.putAdded(json, "task", ADDED);
    return Json.write(json);
  }

  /** Written only if something is wrong, so that old versions and folders have the same form. */
  private static void write(ObjectNode json, QueueHealth health) {
    Halt halt = health.halt();
    if (halt != null) {
      write(json.putObject("halted"), halt.node(), halt.reason(), halt.atMillis())
          .put("threads", halt.threads());
    }
    if (!health.suspensions().isEmpty()) {
      ArrayNode array = json.putArray("suspended");
      for (Suspension each : health.suspensions()) {
        write(array.addObject(), each.node(), each.reason(), each.atMillis());
      }
    }
  }

  private static ObjectNode write(ObjectNode json, String node, String reason, long atMillis) {
    return json.put("node", node).put("reason", reason).put("at", atMillis);
  }

  private static QueueHealth readHealth(ObjectNode json) {
    JsonNode halted = json.get("halted");
    Halt halt =
        halted == null
            ? null
            : new Halt(
                halted.required("node").asString(),
                halted.required("reason").asString(),
                halted.required("threads").asInt(),
                halted.required("at").asLong());
    List<Suspension> suspensions = new ArrayList<>();
    for (JsonNode each : json.path("suspended")) {
      suspensions.add(
          new Suspension(
              each.required("node").asString(),
              each.required("reason").asString(),
              each.required("at").asLong()));
    }
    return new QueueHealth(halt, suspensions);
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
        readHealth(json),
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

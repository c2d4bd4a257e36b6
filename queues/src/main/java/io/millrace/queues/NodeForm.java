package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Nodes as documents. */
final class NodeForm {

  private NodeForm() {}

  /**
   * The document of a node.
   *
   * @param added whether the same transaction adds its definition as {@link QueueForm#ADDED}; it
   *     keeps the one that it has otherwise
   */
  static Bytes write(NodeRecord node, boolean added) {
    ObjectNode json = Json.object();
    json.put("id", node.id().hex());
    json.put("timestamp", node.timestampMillis());
    json.put("maxthreads", node.maxthreads());
    Presence presence = node.presence();
    if (presence != null) {
      ObjectNode process = json.putObject("presence");
      process.put("instance", presence.instance());
      process.put("host", presence.host());
      process.put("process", presence.process());
      QueueForm.write(process, "plugins", presence.plugins());
    }
    if (added) {
      Json.putAdded(json, "task", QueueForm.ADDED);
    } else {
      json.put("task", node.place().task());
    }
    return Json.write(json);
  }

  static NodeRecord read(Document document) {
    ObjectNode json = Json.read(document.body());
    return new NodeRecord(
        new ObjectId(json.required("id").asString()),
        document.key().key(),
        json.required("timestamp").asLong(),
        Json.integer(json, "maxthreads"),
        readPresence(json.get("presence")),
        new Place(json.required("task").asLong(), document.version()));
  }

  private static @Nullable Presence readPresence(@Nullable JsonNode presence) {
    return presence == null
        ? null
        : new Presence(
            presence.required("instance").asString(),
            presence.required("host").asString(),
            presence.required("process").asString(),
            QueueForm.strings(presence.get("plugins")));
  }
}

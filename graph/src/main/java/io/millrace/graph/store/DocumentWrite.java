package io.millrace.graph.store;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A change of one document, whatever version it has.
 *
 * @param key which document
 * @param body its content; null to delete it
 */
record DocumentWrite(DocumentKey key, @Nullable Bytes body) {
  /** What a name, a version and the like take besides. */
  private static final int OVERHEAD = 64;

  int size() {
    return OVERHEAD + (body == null ? 0 : body.size());
  }

  void addTo(Transaction.Builder transaction) {
    if (body == null) {
      transaction.delete(key, DocumentVersion.ANY);
    } else {
      transaction.put(key, DocumentVersion.ANY, body);
    }
  }

  /** Many of them as one document. */
  static Bytes pack(List<DocumentWrite> writes) {
    ObjectNode json = Json.object();
    ArrayNode array = json.putArray("writes");
    for (DocumentWrite write : writes) {
      ObjectNode each = array.addObject();
      each.put("collection", write.key.collection());
      each.put("key", write.key.key());
      if (write.body != null) {
        each.set("body", Json.read(write.body.toArray()));
      }
    }
    return Json.write(json);
  }

  /** What {@link #pack} made one. */
  static List<DocumentWrite> unpack(Document document) {
    return Json.read(
        document,
        json -> {
          List<DocumentWrite> writes = new ArrayList<>();
          for (JsonNode each : json.required("writes")) {
            DocumentKey key =
                new DocumentKey(
                    each.required("collection").asString(), each.required("key").asString());
            JsonNode body = each.get("body");
            writes.add(new DocumentWrite(key, body == null ? null : Json.write(body)));
          }
          return writes;
        });
  }
}

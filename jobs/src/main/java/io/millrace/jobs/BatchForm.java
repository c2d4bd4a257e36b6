package io.millrace.jobs;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import tools.jackson.databind.node.ObjectNode;

/** Batches as documents. */
final class BatchForm {
  private BatchForm() {}

  static Bytes write(Batch batch) {
    ObjectNode json = Json.object();
    json.put("type", batch.type());
    json.put("size", batch.size());
    json.put("capacity", batch.capacity());
    return Json.write(json);
  }

  static Batch read(Document document) {
    ObjectNode json = Json.read(document.body());
    return new Batch(
        Long.parseLong(document.key().key()),
        json.required("type").asString(),
        json.required("size").asInt(),
        json.required("capacity").asInt());
  }
}

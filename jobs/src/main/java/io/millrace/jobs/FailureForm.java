package io.millrace.jobs;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import tools.jackson.databind.node.ObjectNode;

/** Failures as documents. */
final class FailureForm {
  private FailureForm() {}

  static Bytes write(Failure failure) {
    ObjectNode json = Json.object();
    Json.put(json, "worker", failure.worker() == null ? null : failure.worker().text());
    json.put("at", failure.atMillis());
    Json.put(json, "info", failure.info());
    Json.put(json, "logs", failure.logs());
    return Json.write(json);
  }

  static Failure read(Document document) {
    ObjectNode json = Json.read(document.body());
    String worker = Json.text(json, "worker");
    return new Failure(
        worker == null ? null : new WorkerId(worker),
        json.required("at").asLong(),
        Json.text(json, "info"),
        Json.text(json, "logs"));
  }
}

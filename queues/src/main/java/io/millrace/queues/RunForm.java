package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import tools.jackson.databind.node.ObjectNode;

/** Runs as documents. */
final class RunForm {
  private RunForm() {}

  static Bytes write(Run run) {
    ObjectNode json = Json.object();
    json.put("queue", run.queue().hex());
    json.put("node", run.node());
    json.put("client", run.claim().client());
    json.put("origin", run.claim().origin());
    json.put("token", run.claim().token());
    json.put("status", run.status());
    json.put("runner", run.runner());
    json.put("since", run.sinceMillis());
    return Json.write(json);
  }

  static Run read(Document document) {
    ObjectNode json = Json.read(document.body());
    return new Run(
        new ObjectId(document.key().key()),
        new ObjectId(json.required("queue").asString()),
        json.required("node").asString(),
        new RunClaim(
            json.required("client").asLong(),
            json.required("origin").asLong(),
            json.required("token").asLong()),
        json.required("status").asInt(),
        Json.text(json, "runner"),
        json.required("since").asLong(),
        document.version());
  }
}

package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A queue task under way: claimed by a node, or running. There is a document for each, so that the
 * tasks under way are found without looking at those that wait.
 *
 * @param task the queue task
 * @param queue its queue
 * @param node the node that claimed it
 * @param claim the claim in the kernel
 * @param status {@link Status#CLAIMED} or {@link Status#RUNNING}
 * @param runner the identity of the process that runs it, as {@link
 *     io.millrace.processes.ProcessIdentity} writes it; null while none does
 * @param sinceMillis when it reached its status, in milliseconds since the epoch
 * @param version the version of its document
 */
public record Run(
    ObjectId task,
    ObjectId queue,
    String node,
    RunClaim claim,
    int status,
    @Nullable String runner,
    long sinceMillis,
    long version) {

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

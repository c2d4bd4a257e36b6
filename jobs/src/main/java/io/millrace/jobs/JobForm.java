package io.millrace.jobs;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Jobs as documents. */
final class JobForm {
  private JobForm() {}

  /**
   * The document of a job.
   *
   * @param added the local name of the kernel task that the same transaction adds; null where the
   *     job keeps the one that it has, or has none
   */
  static Bytes write(Entry entry, @Nullable String added) {
    ObjectNode json = form(entry);
    if (added != null) {
      Json.putId(json, "task", added);
    }
    return Json.write(json);
  }

  /**
   * The document of a job that the same transaction takes.
   *
   * @param taken the local name of its kernel task: the id that it gets is the claim's token
   */
  static Bytes writeTaken(Entry entry, String taken) {
    ObjectNode json = form(entry);
    Json.putId(json, "token", taken);
    return Json.write(json);
  }

  private static ObjectNode form(Entry entry) {
    Job job = entry.job();
    ObjectNode json = Json.object();
    json.put("type", job.type());
    json.put("priority", job.order().priority().word());
    Json.put(json, "key", job.order().key());
    Json.put(json, "description", job.order().description());
    json.put("status", job.status().word());
    json.put("batch", job.batch());
    json.put("submitted", job.times().submitted());
    Json.put(json, "started", job.times().started());
    Json.put(json, "ended", job.times().ended());
    json.put("failures", job.failures());
    if (job.returns() > 0) {
      json.put("returns", job.returns());
    }
    write(json, job.hand());
    Json.put(json, "parent", text(job.line().parent()));
    Json.put(json, "child", text(job.line().child()));
    Job.FollowOn followOn = job.line().followOn();
    if (followOn != null) {
      json.put("followOn", followOn.type());
      Json.put(json, "followOnProblem", followOn.problem());
    }
    json.put("payload", job.content().payload());
    Json.put(json, "result", job.content().result());
    if (entry.last() != null) {
      json.put("lastToken", entry.last().token());
      json.put("lastKind", entry.last().kind().name());
    }
    json.put("task", job.place().task());
    return json;
  }

  private static void write(ObjectNode json, Job.Hand hand) {
    Json.put(json, "worker", hand.worker() == null ? null : hand.worker().text());
    JobClaim claim = hand.claim();
    if (claim != null) {
      json.put("client", claim.client());
      json.put("origin", claim.origin());
      json.put("token", claim.token());
    }
  }

  static Entry read(Document document) {
    ObjectNode json = Json.read(document.body());
    Submission order =
        new Submission(
            json.required("type").asString(),
            Priority.named(json.required("priority").asString()).orElseThrow(),
            Json.text(json, "key"),
            Json.text(json, "description"));
    Job job =
        new Job(
            id(document.key().key()),
            order,
            JobStatus.named(json.required("status").asString()).orElseThrow(),
            json.required("batch").asLong(),
            new Job.Times(
                json.required("submitted").asLong(),
                Json.number(json, "started"),
                Json.number(json, "ended")),
            json.required("failures").asInt(),
            json.path("returns").asInt(0),
            hand(json),
            new Job.Line(idOrNull(json, "parent"), idOrNull(json, "child"), followOn(json)),
            new Job.Content(json.required("payload").asLong(), Json.number(json, "result")),
            new Job.Place(document.version(), json.required("task").asLong()));
    Long token = Json.number(json, "lastToken");
    return new Entry(
        job,
        token == null
            ? null
            : new Entry.Last(token, Entry.Kind.valueOf(json.required("lastKind").asString())));
  }

  /** Its type and status alone, which stand near its beginning: cheaper than all of it. */
  static JobCensus.Kind kind(Document document) {
    Map<String, String> found = Json.texts(document.body(), Set.of("type", "status"));
    String type = Objects.requireNonNull(found.get("type"));
    String status = Objects.requireNonNull(found.get("status"));
    return new JobCensus.Kind(type, JobStatus.named(status).orElseThrow());
  }

  static JobId id(String text) {
    return new JobId(UUID.fromString(text));
  }

  private static Job.Hand hand(ObjectNode json) {
    String worker = Json.text(json, "worker");
    Long token = Json.number(json, "token");
    return new Job.Hand(
        worker == null ? null : new WorkerId(worker),
        token == null
            ? null
            : new JobClaim(
                json.required("client").asLong(), json.required("origin").asLong(), token));
  }

  private static Job.@Nullable FollowOn followOn(ObjectNode json) {
    String type = Json.text(json, "followOn");
    return type == null ? null : new Job.FollowOn(type, Json.text(json, "followOnProblem"));
  }

  private static @Nullable JobId idOrNull(ObjectNode json, String field) {
    String text = Json.text(json, field);
    return text == null ? null : id(text);
  }

  private static @Nullable String text(@Nullable JobId id) {
    return id == null ? null : id.toString();
  }
}

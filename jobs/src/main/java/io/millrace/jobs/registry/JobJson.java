package io.millrace.jobs.registry;

import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Batch;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.work.policy.Deadlines;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.UniqueKey;
import io.millrace.work.trace.TraceContext;
import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.node.ObjectNode;

/**
 * The JSON of the stored documents: jobs, batches and failures. The store replaces {@code {{name}}}
 * in templates, so opening braces inside strings are escaped: no text of a user can look like that.
 */
final class JobJson {
  private JobJson() {}

  /** The document of a job. */
  static Bytes write(StoredJob stored) {
    return write(stored, null, null);
  }

  /**
   * The document of a job whose kernel task the same transaction adds.
   *
   * @param added the local name of the task
   */
  static Bytes writeAdded(StoredJob stored, String added) {
    return write(stored, added, null);
  }

  /**
   * The document of a job whose kernel task the same transaction claims.
   *
   * @param taken the local name of the task: its new id is the claim's token
   */
  static Bytes writeTaken(StoredJob stored, String taken) {
    return write(stored, null, taken);
  }

  /** Written without a tree in between, since every step of every job writes it. */
  private static Bytes write(StoredJob stored, @Nullable String added, @Nullable String taken) {
    Job job = stored.job();
    ByteArrayOutputStream document = new ByteArrayOutputStream(512);
    try (JsonGenerator json = Json.generator(document)) {
      json.writeStartObject();
      json.writeStringProperty("type", job.type());
      json.writeStringProperty("priority", job.order().priority().word());
      write(json, "key", job.order().key());
      write(json, "description", job.order().description());
      json.writeStringProperty("status", job.status().word());
      json.writeNumberProperty("batch", job.batch());
      json.writeNumberProperty("submitted", job.times().submitted());
      write(json, "started", job.times().started());
      write(json, "ended", job.times().ended());
      json.writeNumberProperty("failures", job.failures());
      if (job.returns() > 0) {
        json.writeNumberProperty("returns", job.returns());
      }
      write(json, job.order(), job.waiting());
      write(json, job.hand(), taken);
      write(json, "parent", text(job.line().parent()));
      write(json, "child", text(job.line().child()));
      Job.FollowOn followOn = job.line().followOn();
      if (followOn != null) {
        json.writeStringProperty("followOn", followOn.type());
        write(json, "followOnProblem", followOn.problem());
      }
      Job.Scheduled scheduled = job.line().scheduled();
      if (scheduled != null) {
        json.writeStringProperty("schedule", scheduled.name());
        json.writeNumberProperty("scheduleNominal", scheduled.nominalMillis());
        json.writeNumberProperty("scheduleStarted", scheduled.startedMillis());
      }
      json.writeNumberProperty("payload", job.content().payload());
      write(json, "result", job.content().result());
      StoredJob.Last last = stored.last();
      if (last != null) {
        json.writeNumberProperty("lastToken", last.token());
        json.writeStringProperty("lastKind", last.kind().name());
      }
      write(json, job.place().hold());
      if (job.place().deadlineMillis() > 0) {
        json.writeNumberProperty("deadline", job.place().deadlineMillis());
      }
      writeId(json, "task", job.place().task(), added);
      json.writeEndObject();
    }
    return Bytes.copyOf(document.toByteArray());
  }

  /** What the document of each job has in it that a filter lets through. */
  static List<String> written(JobFilter filter) {
    Map<String, @Nullable String> fields = new HashMap<>();
    fields.put("type", filter.type());
    fields.put("priority", filter.priority() == null ? null : filter.priority().word());
    fields.put("status", filter.status() == null ? null : filter.status().word());
    return fields.entrySet().stream()
        .filter(field -> field.getValue() != null)
        .map(field -> "\"" + field.getKey() + "\":" + Json.quoted(field.getValue()))
        .toList();
  }

  /** Written only if something is set, so that other jobs have the form of old versions. */
  private static void write(JsonGenerator json, Submission order, Job.Waiting waiting) {
    if (order.trace() != null) {
      json.writeStringProperty("trace", order.trace().write());
    }
    if (order.notBeforeMillis() > 0) {
      json.writeNumberProperty("at", order.notBeforeMillis());
    }
    if (!order.policy().isEmpty()) {
      json.writeObjectPropertyStart("policy");
      order.policy().fields().forEach(json::writeStringProperty);
      json.writeEndObject();
    }
    if (waiting.notBeforeMillis() > 0) {
      json.writeNumberProperty("notBefore", waiting.notBeforeMillis());
    }
    if (waiting.snoozes() > 0) {
      json.writeNumberProperty("snoozes", waiting.snoozes());
    }
    write(json, waiting.limits());
  }

  private static Job.Waiting waiting(ObjectNode json) {
    long notBefore = json.path("notBefore").asLong(0);
    int snoozes = json.path("snoozes").asInt(0);
    Job.Limits limits = limits(json);
    return notBefore == 0 && snoozes == 0 && limits.equals(Job.Limits.NONE)
        ? Job.Waiting.NONE
        : new Job.Waiting(notBefore, snoozes, limits);
  }

  private static void write(JsonGenerator json, Job.Limits limits) {
    if (limits.attemptMillis() > 0) {
      json.writeNumberProperty("timeout", limits.attemptMillis());
    }
    Deadlines deadlines = limits.deadlines();
    if (!deadlines.isEmpty()) {
      json.writeNumberProperty("waitTimeout", deadlines.waitMillis());
      json.writeNumberProperty("totalTimeout", deadlines.totalMillis());
      json.writeNumberProperty("waitEnd", deadlines.waitEndMillis());
      json.writeNumberProperty("totalEnd", deadlines.endMillis());
    }
  }

  private static Job.Limits limits(ObjectNode json) {
    long attempt = json.path("timeout").asLong(0);
    Deadlines deadlines =
        json.has("waitTimeout")
            ? new Deadlines(
                json.required("waitTimeout").asLong(),
                json.required("totalTimeout").asLong(),
                json.required("waitEnd").asLong(),
                json.required("totalEnd").asLong())
            : Deadlines.NONE;
    return attempt == 0 && deadlines.isEmpty()
        ? Job.Limits.NONE
        : new Job.Limits(attempt, deadlines);
  }

  private static void write(JsonGenerator json, Job.@Nullable Hold hold) {
    if (hold != null) {
      json.writeStringProperty("uniqueHash", hold.hash());
      json.writeStringProperty("uniqueScope", hold.scope().word());
      json.writeNumberProperty("uniqueUntil", hold.untilMillis());
    }
  }

  private static Job.@Nullable Hold hold(ObjectNode json) {
    String hash = Json.text(json, "uniqueHash");
    return hash == null
        ? null
        : new Job.Hold(
            hash,
            UniqueKey.Scope.of(json.required("uniqueScope").asString()).orElseThrow(),
            json.required("uniqueUntil").asLong());
  }

  private static void write(JsonGenerator json, Job.Hand hand, @Nullable String taken) {
    write(json, "worker", hand.worker() == null ? null : hand.worker().text());
    JobClaim claim = hand.claim();
    if (claim != null) {
      json.writeNumberProperty("client", claim.client());
      json.writeNumberProperty("origin", claim.origin());
      writeId(json, "token", claim.token(), taken);
    }
  }

  /** An id, or the one that the store gives to the task of this local name. */
  private static void writeId(
      JsonGenerator json, String field, long id, @Nullable String localName) {
    if (localName == null) {
      json.writeNumberProperty(field, id);
    } else {
      json.writeName(field);
      json.writeRawValue("{{" + localName + "}}");
    }
  }

  private static void write(JsonGenerator json, String field, @Nullable String value) {
    if (value != null) {
      json.writeStringProperty(field, value);
    }
  }

  private static void write(JsonGenerator json, String field, @Nullable Long value) {
    if (value != null) {
      json.writeNumberProperty(field, value);
    }
  }

  static StoredJob readJob(Document document) {
    ObjectNode json = Json.read(document.body());
    Submission order =
        new Submission(
            json.required("type").asString(),
            Priority.named(json.required("priority").asString()).orElseThrow(),
            Json.text(json, "key"),
            Json.text(json, "description"),
            json.path("at").asLong(0),
            Policy.read(json.get("policy")),
            TraceContext.read(Json.text(json, "trace")));
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
            waiting(json),
            hand(json),
            new Job.Line(
                idOrNull(json, "parent"), idOrNull(json, "child"), followOn(json), scheduled(json)),
            new Job.Content(json.required("payload").asLong(), Json.number(json, "result")),
            new Job.Place(
                document.version(),
                json.required("task").asLong(),
                hold(json),
                json.path("deadline").asLong(0)));
    Long token = Json.number(json, "lastToken");
    return new StoredJob(
        job,
        token == null
            ? null
            : new StoredJob.Last(
                token, StoredJob.Kind.valueOf(json.required("lastKind").asString())));
  }

  /** Its type and status alone, which stand near its beginning: cheaper than all of it. */
  static JobCounts.Kind kind(Document document) {
    Map<String, String> found = Json.texts(document.body(), Set.of("type", "status"));
    String type = Objects.requireNonNull(found.get("type"));
    String status = Objects.requireNonNull(found.get("status"));
    return new JobCounts.Kind(type, JobStatus.named(status).orElseThrow());
  }

  /**
   * Its type and when it ended, cheaper than all of it.
   *
   * @return null if it has not ended
   */
  static @Nullable Ending ending(Document document) {
    Map<String, String> found = Json.texts(document.body(), Set.of("type", "status", "ended"));
    String ended = found.get("ended");
    String status = Objects.requireNonNull(found.get("status"));
    return ended == null || !JobStatus.named(status).orElseThrow().isEnd()
        ? null
        : new Ending(Objects.requireNonNull(found.get("type")), Long.parseLong(ended));
  }

  /**
   * The end of a job.
   *
   * @param type the name of its type
   * @param millis when, in milliseconds since the epoch
   */
  record Ending(String type, long millis) {}

  /** The document of a job that is archived, with its failed and returned attempts. */
  static String archived(Document job, List<Document> failures, List<Document> returns) {
    ObjectNode json = Json.read(job.body());
    failures.forEach(each -> json.withArray("/failedAttempts").add(Json.read(each.body())));
    returns.forEach(each -> json.withArray("/returnedAttempts").add(Json.read(each.body())));
    return Json.text(json);
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

  private static Job.@Nullable Scheduled scheduled(ObjectNode json) {
    String name = Json.text(json, "schedule");
    return name == null
        ? null
        : new Job.Scheduled(
            name,
            json.required("scheduleNominal").asLong(),
            json.required("scheduleStarted").asLong());
  }

  private static @Nullable JobId idOrNull(ObjectNode json, String field) {
    String text = Json.text(json, field);
    return text == null ? null : id(text);
  }

  private static @Nullable String text(@Nullable JobId id) {
    return id == null ? null : id.toString();
  }

  static Bytes write(Batch batch) {
    ObjectNode json = Json.object();
    json.put("type", batch.type());
    json.put("size", batch.size());
    json.put("capacity", batch.capacity());
    return Json.write(json);
  }

  static Batch readBatch(Document document) {
    ObjectNode json = Json.read(document.body());
    return new Batch(
        Long.parseLong(document.key().key()),
        json.required("type").asString(),
        json.required("size").asInt(),
        json.required("capacity").asInt());
  }

  static Bytes write(Failure failure) {
    ObjectNode json = Json.object();
    Json.put(json, "worker", failure.worker() == null ? null : failure.worker().text());
    json.put("at", failure.atMillis());
    Json.put(json, "info", failure.info());
    Json.put(json, "logs", failure.logs());
    Json.put(json, "failureCode", failure.wish().code());
    return Json.write(json);
  }

  static Failure readFailure(Document document) {
    ObjectNode json = Json.read(document.body());
    String worker = Json.text(json, "worker");
    return new Failure(
        worker == null ? null : new WorkerId(worker),
        json.required("at").asLong(),
        Json.text(json, "info"),
        Json.text(json, "logs"),
        new Failure.Wish(Json.text(json, "failureCode"), null, false));
  }
}

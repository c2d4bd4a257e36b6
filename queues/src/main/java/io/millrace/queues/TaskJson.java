package io.millrace.queues;

import io.millrace.queues.QueueTask.Hold;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueueTask.Progress;
import io.millrace.queues.QueueTask.Retries;
import io.millrace.queues.QueueTask.Scheduled;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.work.policy.Deadlines;
import io.millrace.work.policy.EndedAttempt;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.UniqueKey;
import io.millrace.work.trace.TraceContext;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The JSON of the document of a queue task. */
final class TaskJson {
  private TaskJson() {}

  /**
   * Writes the fields of a task.
   *
   * @param added the local name of the kernel task that the same transaction adds; null if the task
   *     keeps its own
   */
  static void write(JsonGenerator json, QueueTask task, @Nullable String added) {
    Progress progress = task.progress();
    json.writeStringProperty("queue", task.queue().hex());
    json.writeNumberProperty("status", progress.status());
    json.writeStringProperty("node", progress.node());
    json.writeNumberProperty("ctime", task.ctimeMillis());
    json.writeNumberProperty("mtime", progress.mtimeMillis());
    json.writeName("params");
    json.writeTree(task.params());
    Scheduled scheduled = task.scheduled();
    if (scheduled != null) {
      write(json, scheduled);
    }
    if (task.trace() != null) {
      json.writeStringProperty("trace", task.trace().write());
    }
    write(json, "stdout", task.output().stdout());
    write(json, "stderr", task.output().stderr());
    if (!(task.output().mixed() instanceof Output.None)) {
      write(json, "mixedout", task.output().mixed());
    }
    if (progress.reason() != null) {
      json.writeStringProperty("reason", progress.reason());
    }
    if (progress.orphaned() > 0) {
      json.writeNumberProperty("orphaned", progress.orphaned());
    }
    write(json, task.policy(), progress.retries());
    Hold hold = progress.hold();
    if (hold != null) {
      json.writeObjectPropertyStart("unique");
      json.writeStringProperty("key", hold.hash());
      json.writeStringProperty("scope", hold.scope().word());
      json.writeEndObject();
    }
    write(json, progress.deadlines());
    if (added == null) {
      json.writeNumberProperty("task", task.place().task());
    } else {
      Json.putAdded(json, "task", added);
    }
  }

  /** The task with these fields. */
  static QueueTask read(ObjectId id, ObjectNode json, long version) {
    Progress progress =
        new Progress(
            json.required("status").asInt(),
            Json.text(json, "node"),
            json.required("mtime").asLong(),
            Json.text(json, "reason"),
            json.path("orphaned").asInt(0),
            new Retries(
                json.path("failed").asInt(0),
                json.path("snoozed").asInt(0),
                json.path("not_before").asLong(0),
                json.path("failed_token").asLong(0),
                json.path("started").asLong(0),
                EndedAttempt.read(json.get("ended_attempts"))),
            hold(json.get("unique")),
            deadlines(json.get("deadlines")));
    return new QueueTask(
        id,
        new ObjectId(json.required("queue").asString()),
        (ObjectNode) json.required("params"),
        scheduled(json.get("schedule")),
        TraceContext.read(Json.text(json, "trace")),
        json.required("ctime").asLong(),
        Policy.read(json.get("policy")),
        progress,
        new TaskOutput(
            output(json.get("stdout")), output(json.get("stderr")), output(json.get("mixedout"))),
        new Place(json.required("task").asLong(), version));
  }

  /** Written only if something is set, so that other tasks have the form of old versions. */
  private static void write(JsonGenerator json, Policy policy, Retries retries) {
    if (!policy.isEmpty()) {
      json.writeObjectPropertyStart("policy");
      policy.fields().forEach(json::writeStringProperty);
      json.writeEndObject();
    }
    if (retries.failed() > 0) {
      json.writeNumberProperty("failed", retries.failed());
    }
    if (retries.snoozed() > 0) {
      json.writeNumberProperty("snoozed", retries.snoozed());
    }
    if (retries.notBeforeMillis() > 0) {
      json.writeNumberProperty("not_before", retries.notBeforeMillis());
    }
    if (retries.token() > 0) {
      json.writeNumberProperty("failed_token", retries.token());
    }
    if (retries.startedMillis() > 0) {
      json.writeNumberProperty("started", retries.startedMillis());
    }
    if (!retries.ended().isEmpty()) {
      json.writeName("ended_attempts");
      json.writeTree(EndedAttempt.write(retries.ended()));
    }
  }

  private static void write(JsonGenerator json, String field, Output output) {
    switch (output) {
      case Output.None() -> json.writeNullProperty(field);
      case Output.Text(String text) -> json.writeStringProperty(field, text);
      case Output.Stored(
              ObjectId file,
              long sizeBytes,
              boolean shownAsText,
              @Nullable String _) -> {
        json.writeObjectPropertyStart(field);
        json.writeStringProperty("file", file.hex());
        json.writeNumberProperty("bytes", sizeBytes);
        json.writeBooleanProperty("text", shownAsText);
        json.writeEndObject();
      }
    }
  }

  private static void write(JsonGenerator json, Deadlines deadlines) {
    if (!deadlines.isEmpty()) {
      json.writeObjectPropertyStart("deadlines");
      json.writeNumberProperty("wait", deadlines.waitMillis());
      json.writeNumberProperty("total", deadlines.totalMillis());
      json.writeNumberProperty("wait_end", deadlines.waitEndMillis());
      json.writeNumberProperty("end", deadlines.endMillis());
      json.writeEndObject();
    }
  }

  private static Deadlines deadlines(@Nullable JsonNode json) {
    return json == null
        ? Deadlines.NONE
        : new Deadlines(
            json.required("wait").asLong(),
            json.required("total").asLong(),
            json.required("wait_end").asLong(),
            json.required("end").asLong());
  }

  private static @Nullable Hold hold(@Nullable JsonNode unique) {
    return unique == null
        ? null
        : new Hold(
            unique.required("key").asString(),
            UniqueKey.Scope.of(unique.required("scope").asString()).orElseThrow());
  }

  private static Output output(@Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return Output.none();
    }
    if (value.isString()) {
      return new Output.Text(value.asString());
    }
    return new Output.Stored(
        new ObjectId(value.required("file").asString()),
        value.required("bytes").asLong(),
        value.required("text").asBoolean(),
        value.path("chunks").asString(null));
  }

  private static void write(JsonGenerator json, Scheduled scheduled) {
    json.writeObjectPropertyStart("schedule");
    json.writeStringProperty("name", scheduled.name());
    json.writeNumberProperty("nominal", scheduled.nominalMillis());
    json.writeNumberProperty("started", scheduled.startedMillis());
    json.writeEndObject();
  }

  private static @Nullable Scheduled scheduled(@Nullable JsonNode json) {
    return json == null
        ? null
        : new Scheduled(
            json.required("name").asString(),
            json.required("nominal").asLong(),
            json.required("started").asLong());
  }
}

package io.millrace.server.jobs;

import io.millrace.http.json.Json;
import io.millrace.jobs.Batch;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.WorkerView;
import io.millrace.jobs.worker.Workers;
import io.millrace.work.policy.Policy;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The JSON of jobs, batches and workers.
 *
 * @param workers know the progress of running jobs; null if nobody here does
 */
record Shapes(@Nullable Workers workers) {
  /** Settings with other names in forms and answers, where a job has a key and a priority too. */
  private static final Map<String, String> RENAMED =
      Map.of(
          Policy.Field.KEY.key(), "limit_key",
          Policy.Field.PRIORITY.key(), "priority_level");

  /** A job; without its progress if it runs and nobody here knows that. */
  ObjectNode of(Job job) {
    ObjectNode json = plain(job);
    if (workers == null && job.status() == JobStatus.RUNNING) {
      return json;
    }
    Progress progress = workers == null ? null : workers.progress(job.id()).orElse(null);
    if (progress == null) {
      return json.putNull("progress");
    }
    return json.set("progress", of(progress));
  }

  private static ObjectNode of(Progress progress) {
    return Json.object()
        .put("percent", progress.percent())
        .put("info", progress.info())
        .put("at", time(progress.atMillis()));
  }

  /** How far a job is, and which it is. */
  static ObjectNode of(Progress.Update advance) {
    ObjectNode json = Json.object();
    json.put("id", advance.job().id().toString());
    json.put("key", advance.job().key());
    return json.set("progress", of(advance.progress()));
  }

  /** A job without its progress. */
  static ObjectNode plain(Job job) {
    ObjectNode json = Json.object();
    json.put("id", job.id().toString());
    json.put("key", job.key());
    json.put("type", nullable(job.type()));
    json.put("status", job.status().word());
    json.put("display", job.order().description());
    json.put("priority", job.order().priority().word());
    json.put("batchId", job.batch());
    json.put("submitted", time(job.times().submitted()));
    json.put("started", time(job.times().started()));
    json.put("ended", time(job.times().ended()));
    json.put("workerId", text(job.hand().worker()));
    json.put("failures", job.failures());
    json.put("returns", job.returns());
    settings(json, job);
    json.put("parent", text(job.line().parent()));
    json.put("child", text(job.line().child()));
    Job.FollowOn followOn = job.line().followOn();
    if (followOn == null) {
      json.putNull("followOn");
    } else {
      json.putObject("followOn").put("type", followOn.type()).put("problem", followOn.problem());
    }
    Job.Scheduled scheduled = job.line().scheduled();
    if (scheduled != null) {
      json.putObject("schedule")
          .put("name", scheduled.name())
          .put("nominal", time(scheduled.nominalMillis()))
          .put("started", time(scheduled.startedMillis()));
    }
    json.put("payloadSize", job.content().payload());
    json.put("resultSize", job.content().result());
    return json;
  }

  /** What is not the default of when it runs, and how often. */
  private static void settings(ObjectNode json, Job job) {
    if (job.waiting().notBeforeMillis() > 0) {
      json.put("notBefore", time(job.waiting().notBeforeMillis()));
    }
    if (job.waiting().snoozes() > 0) {
      json.put("snoozed", job.waiting().snoozes());
    }
    if (job.deadlineMillis() > 0) {
      json.put("deadline", time(job.deadlineMillis()));
    }
    job.order()
        .policy()
        .fields()
        .forEach((field, text) -> {
          if (Policy.Field.of(field).filter(Policy.Field::isNumber).isPresent()) {
            json.put(RENAMED.getOrDefault(field, field), new BigDecimal(text));
          } else {
            json.put(RENAMED.getOrDefault(field, field), text);
          }
        });
  }

  /** The setting of a job with this name in forms and answers; null if there is none. */
  static Policy.@Nullable Field setting(String name) {
    for (Map.Entry<String, String> renamed : RENAMED.entrySet()) {
      if (renamed.getValue().equals(name)) {
        return Policy.Field.of(renamed.getKey()).orElseThrow();
      }
    }
    return Policy.Field.of(name).filter(Policy.Field::isOfJobs).orElse(null);
  }

  /** The names of the settings of a job, sorted. */
  static Set<String> settings() {
    Set<String> names = new TreeSet<>(RENAMED.values());
    for (Policy.Field field : Policy.Field.values()) {
      if (field.isOfJobs()) {
        names.add(field.key());
      }
    }
    return names;
  }

  static ObjectNode of(Failure failure) {
    ObjectNode json =
        Json.object()
            .put("workerId", text(failure.worker()))
            .put("at", time(failure.atMillis()))
            .put("info", failure.info())
            .put("logs", failure.logs());
    String code = failure.wish().code();
    return code == null ? json : json.put("failureCode", code);
  }

  /** An attempt that ended with its worker. */
  static ObjectNode returned(Failure attempt) {
    return Json.object()
        .put("workerId", text(attempt.worker()))
        .put("at", time(attempt.atMillis()))
        .put("reason", attempt.info());
  }

  static ObjectNode of(Batch batch) {
    return Json.object()
        .put("id", batch.id())
        .put("type", nullable(batch.type()))
        .put("size", batch.size())
        .put("capacity", batch.capacity())
        .put("full", batch.isFull());
  }

  static ObjectNode of(WorkerView worker) {
    ObjectNode json = Json.object();
    json.put("name", worker.name());
    json.put("id", worker.id().text());
    json.put("type", nullable(worker.type()));
    json.put("state", worker.state().word());
    json.put("currentJob", worker.jobs().isEmpty() ? null : worker.jobs().getFirst().toString());
    ArrayNode jobs = json.putArray("jobs");
    worker.jobs().forEach(job -> jobs.add(job.toString()));
    json.put("succeeded", worker.tally().succeeded());
    json.put("failed", worker.tally().failed());
    json.put("connected", time(worker.seen().connected()));
    json.put("lastSeen", time(worker.seen().last()));
    return json;
  }

  private static @Nullable String nullable(String type) {
    return type.isEmpty() ? null : type;
  }

  private static @Nullable String text(@Nullable WorkerId worker) {
    return worker == null ? null : worker.text();
  }

  private static @Nullable String text(@Nullable JobId job) {
    return job == null ? null : job.toString();
  }

  private static @Nullable String time(@Nullable Long millis) {
    return millis == null ? null : Instant.ofEpochMilli(millis).toString();
  }
}

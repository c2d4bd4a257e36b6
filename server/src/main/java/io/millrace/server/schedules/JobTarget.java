package io.millrace.server.schedules;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Value;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.json.Json;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.registry.ArchivedJobs;
import io.millrace.jobs.registry.Jobs;
import io.millrace.schedules.ScheduleState.Ending;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.server.traces.Traces;
import io.millrace.store.DocumentKey;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The target {@code {"job": {"type": …, "priority": …, "description": …, "payload": …}}}: a run is
 * a job. A payload that is a string is sent as it is, and any other as JSON.
 */
public final class JobTarget implements LimitedTarget {
  private static final Set<String> FIELDS = Set.of("type", "priority", "description", "payload");

  private final Jobs jobs;
  private final JobRegistry registry;
  private final BlobStore blobs;
  private final ArchivedJobs archived;
  private final Traces traces;

  /** Runs jobs of this server; their ends are also found in the archive. */
  public JobTarget(Jobs jobs, ArchivedJobs archived, Traces traces) {
    this.traces = traces;
    this.jobs = jobs;
    this.blobs = archived.blobs();
    this.archived = archived;
    this.registry = jobs.registry();
  }

  @Override
  public String field() {
    return "job";
  }

  @Override
  public void check(ObjectNode description) {
    if (description.size() > 1) {
      throw new InvalidScheduleException("target", "a target with a job has no other field");
    }
    try {
      jobs.types().require(submission(job(description)).type());
    } catch (InvalidJobException e) {
      throw invalid(e);
    }
  }

  @Override
  public Scope scope(ObjectNode description) {
    return new Scope(Area.TYPES, description.path("job").path("type").asString(""));
  }

  private static ObjectNode job(ObjectNode description) {
    if (!(description.get("job") instanceof ObjectNode job)) {
      throw new InvalidScheduleException("target.job", "job is an object");
    }
    for (String field : job.propertyNames()) {
      if (!FIELDS.contains(field)) {
        throw new InvalidScheduleException(
            "target.job." + field, "a job has the fields type, priority, description and payload");
      }
    }
    return job;
  }

  private static Submission submission(ObjectNode job) {
    String priority = text(job, "priority", Priority.IMMEDIATE.word());
    String description = text(job, "description", "");
    return new Submission(
        text(job, "type", ""),
        Priority.named(priority)
            .orElseThrow(() ->
                new InvalidScheduleException(
                    "target.job.priority", "priority is immediate or batch, not " + priority)),
        null,
        description.isEmpty() ? null : description);
  }

  private static String text(ObjectNode job, String field, String absent) {
    JsonNode value = job.path(field);
    if (value.isMissingNode()) {
      return absent;
    }
    if (!value.isString()) {
      throw new InvalidScheduleException("target.job." + field, field + " is a string");
    }
    return value.asString();
  }

  private static byte[] payload(ObjectNode job) {
    JsonNode payload = job.path("payload");
    return payload.isMissingNode() || payload.isString()
        ? payload.asString("").getBytes(StandardCharsets.UTF_8)
        : Json.bytes(payload);
  }

  private static InvalidScheduleException invalid(InvalidJobException e) {
    return new InvalidScheduleException("target.job", String.valueOf(e.getMessage()));
  }

  @Override
  public boolean start(List<Request> runs, ObjectNode description, JointCommit commit) {
    Map<JobId, Job.Scheduled> scheduled = new LinkedHashMap<>();
    for (Request run : runs) {
      scheduled.put(
          registry.newId(),
          new Job.Scheduled(
              run.schedule(), run.nominal().toEpochMilli(), run.started().toEpochMilli()));
    }
    List<String> ids = scheduled.keySet().stream().map(JobId::toString).toList();
    ObjectNode job = job(description);
    byte[] payload = payload(job);
    boolean started = false;
    try {
      started =
          jobs.submitWith(
              scheduled,
              run -> submission(job).in(traces.begin(run.name(), run.startedMillis())),
              id ->
                  Value.keep(JobRegistry.payloadName(id), new ByteArrayInputStream(payload), blobs),
              transaction -> commit.commit(transaction, ids));
    } catch (InvalidJobException e) {
      discard(scheduled.keySet(), payload);
      throw invalid(e);
    }
    if (!started) {
      discard(scheduled.keySet(), payload);
    }
    return started;
  }

  /** Deletes payloads of jobs that were not submitted. */
  private void discard(Set<JobId> ids, byte[] payload) {
    if (payload.length > Value.INLINE_LIMIT) {
      ids.forEach(id -> blobs.delete(JobRegistry.payloadName(id)));
    }
  }

  @Override
  public Optional<End> end(String id) {
    Job job = registry.find(id).orElse(null);
    if (job == null) {
      return Optional.of(
          archived
              .find(id)
              .map(gone ->
                  gone.isDone()
                      ? new End(Ending.SUCCEEDED, null)
                      : new End(Ending.FAILED, gone.info()))
              .orElseGet(() -> new End(Ending.UNKNOWN, "the job was deleted")));
    }
    if (!job.status().isEnd()) {
      return Optional.empty();
    }
    if (job.status() == JobStatus.DONE) {
      return Optional.of(new End(Ending.SUCCEEDED, null));
    }
    List<Failure> failures = registry.failures(job.id());
    return Optional.of(
        new End(Ending.FAILED, failures.isEmpty() ? null : failures.getLast().info()));
  }

  @Override
  public void cancel(String id) {
    try {
      var _ = registry.cancel(id);
    } catch (JobStateException _) {
      // It has ended meanwhile.
    }
  }

  @Override
  public String collection() {
    return Jobs.collection();
  }

  @Override
  public String runOf(DocumentKey key) {
    return key.key();
  }
}

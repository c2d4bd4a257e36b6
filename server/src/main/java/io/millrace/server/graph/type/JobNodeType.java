package io.millrace.server.graph.type;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Tail;
import io.millrace.blobs.Value;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.NodeId;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.Inputs;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.RunPolicy;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.registry.ArchivedJobs;
import io.millrace.jobs.registry.ArchivedJobs.ArchivedJob;
import io.millrace.jobs.registry.Jobs;
import io.millrace.work.SharedWatch;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Nodes of the type {@code job}: a job for a worker, whose result becomes the node's. */
public record JobNodeType(GraphJobs jobs) implements NodeType {
  /** The name of the type. */
  public static final String NAME = "job";

  /** The keys of data that it writes. */
  public static final Set<String> OUTPUTS = Set.of("job", "result");

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Set<String> inputs() {
    return RunPolicy.keysWith(
        "job_type", "payload", "description", "priority", "schedule", "nominal", "started");
  }

  @Override
  public Set<String> outputs() {
    return OUTPUTS;
  }

  @Override
  public void check(Map<String, JsonNode> inputs) {
    Submission submission = submission(inputs, "graph-1-1");
    RunPolicy.of(inputs);
    List<String> types = jobs.jobs().types().all().stream().map(JobType::name).toList();
    String type = submission.type();
    if (types.isEmpty() && !type.isEmpty()) {
      throw new InvalidGraphException("job_type is given, and this server has no types of jobs");
    }
    if (!types.isEmpty() && !types.contains(type)) {
      throw new InvalidGraphException(
          "job_type must be one of " + String.join(", ", types) + ", not \"" + type + "\"");
    }
  }

  private static Submission submission(Map<String, JsonNode> values, String key) {
    Inputs inputs = new Inputs(values);
    String priority = inputs.optionalText("priority").orElse(Priority.BATCH.word());
    try {
      return new Submission(
          inputs.optionalText("job_type").orElse(""),
          Priority.named(priority)
              .orElseThrow(() ->
                  new InvalidGraphException(
                      "priority must be immediate or batch, not " + priority)),
          key,
          inputs.optionalText("description").orElse(null));
    } catch (InvalidJobException e) {
      throw new InvalidGraphException(String.valueOf(e.getMessage()));
    }
  }

  /** A text as it is, any other value as JSON. */
  private static String payload(Map<String, JsonNode> inputs) {
    JsonNode payload = inputs.get("payload");
    return payload == null ? "" : payload.isString() ? payload.asString() : payload.toString();
  }

  /** The key of the job of an attempt. */
  public static String key(NodeId node, int attempt) {
    return "graph-" + node + "-" + attempt;
  }

  @Override
  public Attempt start(AttemptContext context) {
    return begin(context, false);
  }

  /** Looks for the job in the archive too: it may have ended while the server was away. */
  @Override
  public Optional<Attempt> resume(AttemptContext context) {
    return Optional.of(begin(context, true));
  }

  private Attempt begin(AttemptContext context, boolean resumed) {
    String key = key(context.id(), context.attempt());
    Submission submission = submission(context.inputs(), key);
    return JobAttempt.begin(
        jobs,
        new JobAttempt.Order(
            key,
            submission,
            payload(context.inputs()),
            ScheduledRun.of(context.inputs()),
            resumed));
  }

  /** An attempt that is a job. */
  private static final class JobAttempt extends HandedOn {
    private final GraphJobs jobs;
    private final JobRegistry registry;
    private final Order order;
    private final ResultTail result;

    private JobAttempt(GraphJobs jobs, Order order, ResultTail result) {
      super(Map.of("job", Tail.of(order.key()), "result", result));
      this.jobs = jobs;
      this.registry = jobs.jobs().registry();
      this.order = order;
      this.result = result;
    }

    /**
     * A job to be submitted.
     *
     * @param key the key of the job, which is unique for the attempt
     * @param submission the job
     * @param payload its payload
     * @param run the run of a schedule to which it belongs; null for none
     * @param resumed whether it may have been submitted before the server was started
     */
    record Order(
        String key,
        Submission submission,
        String payload,
        @Nullable ScheduledRun run,
        boolean resumed) {
      Job.@Nullable Scheduled scheduled() {
        return run == null
            ? null
            : new Job.Scheduled(
                run.schedule(), run.nominal().toEpochMilli(), run.started().toEpochMilli());
      }
    }

    /** Submits the job, or finds it again. */
    static JobAttempt begin(GraphJobs jobs, Order order) {
      JobAttempt attempt = new JobAttempt(jobs, order, new ResultTail(jobs.jobs()));
      attempt.begin();
      return attempt;
    }

    @Override
    void handOn() {
      Job found = registry.find(order.key()).orElse(null);
      if (found == null && order.resumed() && endedAsArchived(order.key())) {
        return;
      }
      Job job = found == null ? submit() : found;
      var _ = jobs.ends().follow(job.id()).thenAccept(end -> guarded(() -> ended(job.id(), end)));
    }

    private Job submit() {
      JobId id = registry.newId();
      String blob = JobRegistry.payloadName(id);
      try {
        Value payload =
            Value.keep(
                blob,
                new ByteArrayInputStream(order.payload().getBytes(StandardCharsets.UTF_8)),
                jobs.blobs());
        return registry.submitOnce(id, order.submission(), payload, order.scheduled());
      } catch (InvalidJobException e) {
        jobs.blobs().delete(blob);
        return registry
            .find(order.key())
            .orElseThrow(() -> new CannotHandOnException(String.valueOf(e.getMessage())));
      }
    }

    /** Ends as the archived job did; false if there is none. */
    private boolean endedAsArchived(String idOrKey) {
      ArchivedJob job =
          archived(jobs.archived().archive(), () -> jobs.archived().find(idOrKey)).orElse(null);
      if (job == null) {
        return false;
      }
      if (job.isDone()) {
        result.done(job);
        finish(Map.of());
      } else {
        failed(job.info(), job.failureCode());
      }
      return true;
    }

    private void failed(@Nullable String info, @Nullable String code) {
      fail(
          Failure.of(
              "the job " + order.key() + " failed" + (info == null ? "" : ": " + info),
              code == null ? "" : code),
          Map.of());
    }

    private void goneFromStore(JobId id) {
      if (!endedAsArchived(id.toString())) {
        fail(Failure.of("the job " + order.key() + " was deleted"), Map.of());
      }
    }

    private void ended(JobId id, @Nullable Job job) {
      if (job == null) {
        Thread.ofVirtual().name("graph-archived-job").start(() -> guarded(() -> goneFromStore(id)));
      } else if (job.status() == JobStatus.DONE) {
        result.done(job);
        finish(Map.of());
      } else {
        List<io.millrace.jobs.Failure> failures = registry.failures(id);
        String info = failures.isEmpty() ? null : failures.getLast().info();
        String code = failures.isEmpty() ? null : failures.getLast().wish().code();
        failed(info, code);
      }
    }

    @Override
    void stop() {
      try {
        registry.cancel(order.key());
      } catch (JobStateException _) {
        // It has ended already.
      }
    }

    /** The result of a job; empty until it is done. */
    private static final class ResultTail implements Tail {
      private final Jobs jobs;
      private volatile long size;
      private volatile @Nullable Supplier<@Nullable InputStream> content;

      ResultTail(Jobs jobs) {
        this.jobs = jobs;
      }

      void done(Job job) {
        done(job.content().result(), () -> jobs.registry().result(job).orElse(null));
      }

      void done(ArchivedJob job) {
        done(job.resultBytes(), job::result);
      }

      private void done(@Nullable Long bytes, Supplier<@Nullable InputStream> opened) {
        content = opened;
        size = bytes == null ? 0 : bytes;
      }

      @Override
      public long size() {
        return size;
      }

      @Override
      public byte[] read(long offset, int most) {
        Supplier<@Nullable InputStream> opened = content;
        if (opened == null || offset >= size) {
          return new byte[0];
        }
        try (InputStream stored = opened.get();
            InputStream result = stored == null ? InputStream.nullInputStream() : stored) {
          result.skipNBytes(offset);
          return result.readNBytes(most);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  /** The jobs of attempts at nodes. To be closed before the store. */
  public static final class GraphJobs implements AutoCloseable {
    private final Jobs jobs;
    private final ArchivedJobs archived;
    private final SharedWatch<JobId, Job> ends;

    /** Uses these jobs, and those in the archive. */
    public GraphJobs(Jobs jobs, ArchivedJobs archived) {
      this.jobs = jobs;
      this.archived = archived;
      this.ends = new SharedWatch<>("graph-jobs", jobs.ends());
    }

    Jobs jobs() {
      return jobs;
    }

    BlobStore blobs() {
      return archived.blobs();
    }

    ArchivedJobs archived() {
      return archived;
    }

    SharedWatch<JobId, Job> ends() {
      return ends;
    }

    @Override
    public void close() {
      ends.close();
    }
  }
}

package io.millrace.jobs.registry;

import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.work.trace.Span;
import io.millrace.work.trace.SpanRecorder;
import io.millrace.work.trace.SpanRecorder.Attempt;
import io.millrace.work.trace.SpanRecorder.End;
import io.millrace.work.trace.SpanRecorder.Work;
import io.millrace.work.trace.TraceContext;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Records the spans of jobs that belong to a trace, by the changes of the store. Jobs that are
 * running when it begins are found in the store; attempts that end while nobody watches have no
 * span. For one thread.
 */
final class JobSpans {
  /** The destination of jobs on a server without types. */
  private static final String WITHOUT_TYPE = "jobs";

  private final JobRegistry registry;
  private final LongSupplier millis;
  private final SpanRecorder recorder;
  private final Map<JobId, Job> running = new HashMap<>();

  /** Spans of the jobs of a registry; {@code millis} is the time since the epoch. */
  JobSpans(JobRegistry registry, LongSupplier millis, Consumer<Span> spans) {
    this.registry = registry;
    this.millis = millis;
    this.recorder = new SpanRecorder(Job.TRACED, spans);
  }

  /** Begins anew, with the jobs that run now. */
  void opened() {
    running.clear();
    JobFilter filter = new JobFilter(null, JobStatus.RUNNING, null, null, null);
    for (Job job : registry.list(filter, null, Integer.MAX_VALUE)) {
      if (job.order().trace() != null) {
        running.put(job.id(), job);
      }
    }
  }

  /** Takes a change into account. */
  void changed(JobChange change) {
    Job job = change.present();
    if (job == null) {
      running.remove(change.id());
      return;
    }
    TraceContext trace = job.order().trace();
    if (trace == null) {
      return;
    }
    Work work =
        new Work(
            job.id().toString(),
            job.type().isEmpty() ? WITHOUT_TYPE : job.type(),
            trace,
            job.times().submitted());
    Long ended = job.times().ended();
    long now = ended == null ? millis.getAsLong() : ended;
    Job before = running.get(job.id());
    JobClaim claim = before == null ? null : before.hand().claim();
    if (before != null && claim != null && !claim.equals(job.hand().claim())) {
      running.remove(job.id());
      Long started = before.times().started();
      String worker = String.valueOf(before.hand().worker());
      recorder.attempted(
          work,
          new Attempt(claim.token(), isFirst(before), started == null ? now : started, now, worker),
          end(before, job));
      if (job.status() == JobStatus.PENDING) {
        recorder.waits(work, now);
      }
    }
    if (job.status() == JobStatus.RUNNING) {
      running.put(job.id(), job);
    } else if (job.status().isEnd() && isNew(before, job)) {
      recorder.ended(
          work, now, job.status() == JobStatus.DONE ? End.succeeded("done") : End.failed("failed"));
    }
  }

  /** Whether the job has just ended: a done one may change once more, for a follow-on job. */
  private static boolean isNew(@Nullable Job before, Job job) {
    return before != null || job.status() == JobStatus.FAILED;
  }

  private static boolean isFirst(Job job) {
    return job.failures() == 0 && job.returns() == 0 && job.waiting().snoozes() == 0;
  }

  private static End end(Job before, Job after) {
    if (after.status() == JobStatus.DONE) {
      return End.succeeded("done");
    }
    if (after.status() == JobStatus.FAILED) {
      return End.failed("failed");
    }
    if (after.failures() > before.failures()) {
      return End.failed("retried");
    }
    return after.waiting().snoozes() > before.waiting().snoozes()
        ? End.succeeded("snoozed")
        : End.failed("returned");
  }
}

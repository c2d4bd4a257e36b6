package io.millrace.jobs;

import io.millrace.jobs.Job.Content;
import io.millrace.jobs.Job.Hand;
import io.millrace.jobs.Job.Line;
import io.millrace.jobs.Job.Place;
import io.millrace.jobs.Job.Times;
import org.jspecify.annotations.Nullable;

/** The transitions of jobs, which the package's description draws; all of them stand here. */
final class Transitions {
  private Transitions() {}

  static Job assigned(Job job, WorkerId worker, JobClaim claim, long nowMillis) {
    Times times = new Times(job.times().submitted(), nowMillis, null);
    return next(job, JobStatus.RUNNING, times, new Hand(worker, claim), job.place());
  }

  static Job completed(Job job, long resultBytes, @Nullable JobId child, long nowMillis) {
    return new Job(
        job.id(),
        job.order(),
        JobStatus.DONE,
        job.batch(),
        ended(job, nowMillis),
        job.failures(),
        idle(job),
        new Line(job.line().parent(), child),
        new Content(job.content().payload(), resultBytes),
        nowhere(job));
  }

  /** Pending again, or failed for good once it failed often enough. */
  static Job failed(Job job, int maxFailures, long nowMillis) {
    int failures = job.failures() + 1;
    return failures >= maxFailures
        ? failing(job, failures, ended(job, nowMillis), JobStatus.FAILED)
        : failing(job, failures, job.times(), JobStatus.PENDING);
  }

  static Job returned(Job job) {
    return next(job, JobStatus.PENDING, job.times(), idle(job), job.place());
  }

  static Job cancelled(Job job, long nowMillis) {
    return next(job, JobStatus.FAILED, ended(job, nowMillis), idle(job), nowhere(job));
  }

  /** Pending with its failures counted anew. */
  static Job retried(Job job) {
    Times times = new Times(job.times().submitted(), job.times().started(), null);
    return failing(job, 0, times, JobStatus.PENDING);
  }

  private static Job failing(Job job, int failures, Times times, JobStatus status) {
    return new Job(
        job.id(),
        job.order(),
        status,
        job.batch(),
        times,
        failures,
        idle(job),
        job.line(),
        job.content(),
        nowhere(job));
  }

  private static Job next(Job job, JobStatus status, Times times, Hand hand, Place place) {
    return new Job(
        job.id(),
        job.order(),
        status,
        job.batch(),
        times,
        job.failures(),
        hand,
        job.line(),
        job.content(),
        place);
  }

  private static Times ended(Job job, long nowMillis) {
    return new Times(job.times().submitted(), job.times().started(), nowMillis);
  }

  private static Hand idle(Job job) {
    return new Hand(job.hand().worker(), null);
  }

  private static Place nowhere(Job job) {
    return new Place(job.place().version(), 0);
  }
}

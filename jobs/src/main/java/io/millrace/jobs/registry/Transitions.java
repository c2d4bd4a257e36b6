package io.millrace.jobs.registry;

import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Job;
import io.millrace.jobs.Job.Content;
import io.millrace.jobs.Job.Hand;
import io.millrace.jobs.Job.Limits;
import io.millrace.jobs.Job.Place;
import io.millrace.jobs.Job.Times;
import io.millrace.jobs.Job.Waiting;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** All transitions of jobs, which the description of {@code io.millrace.jobs} draws. */
final class Transitions {
  private Transitions() {}

  static Job assigned(Job job, WorkerId worker, JobClaim claim, long nowMillis) {
    Times times = new Times(job.times().submitted(), nowMillis, null);
    return next(job, JobStatus.RUNNING, times, new Hand(worker, claim), job.place());
  }

  /**
   * Done.
   *
   * @param child the job that is made of the result; null for none
   * @param followOn the job that is still to be made of it; null for none
   */
  static Job completed(
      Job job,
      long resultBytes,
      @Nullable JobId child,
      Job.@Nullable FollowOn followOn,
      long nowMillis) {
    return new Job(
        job.id(),
        job.order(),
        JobStatus.DONE,
        job.batch(),
        ended(job, nowMillis),
        job.failures(),
        job.returns(),
        job.waiting(),
        idle(job),
        job.line().with(child, followOn),
        new Content(job.content().payload(), resultBytes),
        nowhere(job));
  }

  /** Done as before, with other news of the job that its result becomes. */
  static Job followed(Job job, @Nullable JobId child, Job.@Nullable FollowOn followOn) {
    return new Job(
        job.id(),
        job.order(),
        job.status(),
        job.batch(),
        job.times(),
        job.failures(),
        job.returns(),
        job.waiting(),
        job.hand(),
        job.line().with(child, followOn),
        job.content(),
        job.place());
  }

  /**
   * Pending again, or failed for good.
   *
   * @param pause after which it may be given out again; empty if it has failed for good
   */
  static Job failed(Job job, Optional<Duration> pause, long nowMillis) {
    int failures = job.failures() + 1;
    return pause.isEmpty()
        ? ending(
            job, failures, job.returns(), job.waiting(), ended(job, nowMillis), JobStatus.FAILED)
        : ending(
            job,
            failures,
            job.returns(),
            until(job, nowMillis, pause.get(), job.waiting().snoozes()),
            job.times(),
            JobStatus.PENDING);
  }

  /** Pending again after a pause; that is no failure. */
  static Job snoozed(Job job, Duration pause, long nowMillis) {
    Waiting waiting = until(job, nowMillis, pause, job.waiting().snoozes() + 1);
    return ending(job, job.failures(), job.returns(), waiting, job.times(), JobStatus.PENDING);
  }

  private static Waiting until(Job job, long nowMillis, Duration pause, int snoozes) {
    long runnable = nowMillis + pause.toMillis();
    return new Waiting(pause.isZero() ? 0 : runnable, snoozes, waiting(job, runnable));
  }

  /** Its limits if it waits for another attempt, which can begin at this time. */
  private static Limits waiting(Job job, long runnableMillis) {
    Limits limits = job.waiting().limits();
    return limits.deadlines().isEmpty()
        ? limits
        : limits.with(limits.deadlines().waiting(runnableMillis));
  }

  /** Pending at its old place. */
  static Job returned(Job job, long nowMillis) {
    Waiting waiting = new Waiting(0, job.waiting().snoozes(), waiting(job, nowMillis));
    return next(job, JobStatus.PENDING, job.times(), waiting, idle(job), job.place());
  }

  /** Pending at its old place, or failed for good once it was returned often enough. */
  static Job returned(Job job, int maxReturns, long nowMillis) {
    int returns = job.returns() + 1;
    if (returns >= maxReturns) {
      return ending(
          job, job.failures(), returns, job.waiting(), ended(job, nowMillis), JobStatus.FAILED);
    }
    Job pending =
        ending(job, job.failures(), returns, job.waiting(), job.times(), JobStatus.PENDING);
    return next(
        pending,
        JobStatus.PENDING,
        job.times(),
        returned(job, nowMillis).waiting(),
        idle(job),
        job.place());
  }

  static Job cancelled(Job job, long nowMillis) {
    return next(job, JobStatus.FAILED, ended(job, nowMillis), idle(job), nowhere(job));
  }

  /** Pending, with its failures and returns counted from zero. */
  static Job retried(Job job, long nowMillis) {
    Times times = new Times(job.times().submitted(), job.times().started(), null);
    Limits limits = job.waiting().limits();
    Limits anew = limits.with(limits.deadlines().restarted(nowMillis));
    return ending(job, 0, 0, new Waiting(0, 0, anew), times, JobStatus.PENDING);
  }

  /** Without a worker, and without the kernel task that it had. */
  private static Job ending(
      Job job, int failures, int returns, Waiting waiting, Times times, JobStatus status) {
    return new Job(
        job.id(),
        job.order(),
        status,
        job.batch(),
        times,
        failures,
        returns,
        waiting,
        idle(job),
        job.line(),
        job.content(),
        nowhere(job));
  }

  private static Job next(Job job, JobStatus status, Times times, Hand hand, Place place) {
    return next(job, status, times, job.waiting().over(), hand, place);
  }

  private static Job next(
      Job job, JobStatus status, Times times, Waiting waiting, Hand hand, Place place) {
    return new Job(
        job.id(),
        job.order(),
        status,
        job.batch(),
        times,
        job.failures(),
        job.returns(),
        waiting,
        hand,
        job.line(),
        job.content(),
        place);
  }

  /** Pending or failed as before, with another order. */
  static Job moved(Job job, Submission order) {
    return new Job(
        job.id(),
        order,
        job.status(),
        job.batch(),
        job.times(),
        job.failures(),
        job.returns(),
        job.waiting(),
        job.hand(),
        job.line(),
        job.content(),
        job.place());
  }

  /** Without its unique key. */
  static Job released(Job job) {
    Place old = job.place();
    return at(job, new Place(old.version(), old.task(), null, old.deadlineMillis()));
  }

  /** Looked at by the registry at another deadline. */
  static Job watched(Job job, long deadlineMillis) {
    Place old = job.place();
    return at(job, new Place(old.version(), old.task(), old.hold(), deadlineMillis));
  }

  private static Job at(Job job, Place place) {
    return next(job, job.status(), job.times(), job.waiting(), job.hand(), place);
  }

  /** As a commit has stored it. */
  static Job stored(Job job, long version, long task, Hand hand) {
    return next(
        job,
        job.status(),
        job.times(),
        job.waiting(),
        hand,
        new Place(version, task, job.place().hold(), job.place().deadlineMillis()));
  }

  private static Times ended(Job job, long nowMillis) {
    return new Times(job.times().submitted(), job.times().started(), nowMillis);
  }

  private static Hand idle(Job job) {
    return new Hand(job.hand().worker(), null);
  }

  private static Place nowhere(Job job) {
    Place old = job.place();
    return new Place(old.version(), 0, old.hold(), old.deadlineMillis());
  }
}

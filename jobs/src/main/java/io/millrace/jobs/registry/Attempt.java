package io.millrace.jobs.registry;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.registry.Submitting.NewJob;
import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.RetryPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A report that is to be stored. For use by one thread. */
final class Attempt {
  private static final int METADATA_BYTES = 1_500;
  private static final int BYTES_A_CHARACTER = 3;

  private Report report;

  /** The job as it is known. */
  private @Nullable StoredJob entry;

  /** The job that is made of the result; null for none. */
  private @Nullable NewJob child;

  /** The job that is made of the result later; null for none. */
  private Job.@Nullable FollowOn followOn;

  /** Why the store does not take what was reported; null when it may. */
  private @Nullable String rejection;

  private @Nullable Settled settled;
  private JobTransaction.@Nullable Written written;
  private boolean claimWasMissing;

  Attempt(Report report) {
    this.report = report;
    Job job = assignment().job();
    this.entry = new StoredJob(job, null);
  }

  Report report() {
    return report;
  }

  Assignment assignment() {
    return report.assignment();
  }

  JobId id() {
    return assignment().job().id();
  }

  @Nullable Settled settled() {
    return settled;
  }

  @Nullable NewJob child() {
    return child;
  }

  void makeChild(NewJob job) {
    child = job;
  }

  Job.@Nullable FollowOn followOn() {
    return followOn;
  }

  /** The result is stored now, and becomes a job later. */
  void makeChildLater(Job.FollowOn later) {
    child = null;
    followOn = later;
  }

  /** The store does not take what was reported: the attempt has failed. */
  void fail(Failure failure) {
    rejection = failure.info();
    child = null;
    followOn = null;
    report = new Report.Failed(assignment(), failure);
  }

  void postpone(String reason) {
    settled = new Settled.Postponed(reason);
  }

  void refuse(String reason) {
    settled = new Settled.Refused(reason);
  }

  /** About how many bytes it brings to a transaction. */
  long bytes() {
    long own =
        switch (report) {
          case Report.Completed(Assignment _, Value.Inline result) -> result.size();
          case Report.Failed(Assignment _, Failure failure) ->
              failure.logs() == null ? 0 : (long) BYTES_A_CHARACTER * failure.logs().length();
          default -> 0;
        };
    return METADATA_BYTES + own + (child == null ? 0 : child.bytes());
  }

  /** Compares with the stored job; settles the report if that decides already. */
  void judge(@Nullable StoredJob found) {
    entry = found;
    if (found == null) {
      refuse("job " + id() + " was deleted");
      return;
    }
    Job job = found.job();
    JobClaim claim = assignment().claim();
    if (claim.equals(job.hand().claim())) {
      return;
    }
    if (new StoredJob.Last(claim.token(), StoredJob.Kind.of(report)).equals(found.last())) {
      settled = new Settled.Accepted(job);
      return;
    }
    refuse(
        switch (job.status()) {
          case PENDING -> "job " + job.id() + " was taken back and waits for a worker again";
          case RUNNING -> "job " + job.id() + " was taken back and given out again";
          case DONE -> "job " + job.id() + " is done already";
          case FAILED -> "job " + job.id() + " has been failed or cancelled meanwhile";
        });
  }

  /**
   * The store says that the claim is gone. Refused at the second time, if the job does not show
   * why.
   */
  void claimIsMissing() {
    if (claimWasMissing) {
      refuse("the claim on job " + id() + " has run out, and another has taken it");
    }
    claimWasMissing = true;
  }

  /**
   * Adds what it changes.
   *
   * @param spot where the child belongs; null for no child
   */
  void writeTo(JobTransaction transaction, Batches.@Nullable Spot spot, Context context) {
    Job job = Objects.requireNonNull(entry).job();
    JobClaim claim = assignment().claim();
    switch (report) {
      case Report.Completed(Assignment _, Value result) -> {
        JobId childId = child == null ? null : child.id();
        Job done =
            Transitions.completed(job, result.size(), childId, followOn, context.nowMillis());
        put(transaction, done);
        transaction.delete(claim.ref());
        transaction.put(Keys.result(job.id()), DocumentVersion.ANY, JobStore.resultBody(result));
        if (followOn != null) {
          transaction.put(Keys.followOn(job.id()), DocumentVersion.ANY, Bytes.of(followOn.type()));
        } else if (child != null && spot != null) {
          child.writeTo(transaction, spot);
        }
      }
      case Report.Failed(Assignment _, Failure failure) ->
          writeFailure(transaction, job, failure, context);
      case Report.Returned(Assignment _, String reason) -> {
        if (reason == null) {
          put(transaction, Transitions.returned(job, context.nowMillis()));
          transaction.release(claim.ref());
        } else {
          writeReturn(transaction, job, reason, context);
        }
      }
    }
  }

  private void writeFailure(JobTransaction transaction, Job job, Failure failure, Context context) {
    Policy policy = job.order().policy().over(context.policies().apply(job.type()));
    long now = context.nowMillis();
    transaction.delete(assignment().claim().ref());
    boolean snoozes =
        failure.wish().snooze() && policy.retries().maySnooze(job.waiting().snoozes());
    if (snoozes) {
      Duration delay = Objects.requireNonNullElse(failure.wish().delay(), Duration.ZERO);
      Job snoozed = Transitions.snoozed(job, RetryPolicy.capped(delay), now);
      // Whichever worker is free may have it.
      offerAgain(transaction, snoozed, Groups.of(job), context);
      return;
    }
    Job next = Transitions.failed(job, pause(policy, job, failure, context), now);
    if (next.status() == JobStatus.PENDING) {
      offerAgain(transaction, next, Groups.failed(job.type(), assignment().worker()), context);
    } else {
      put(transaction, next);
    }
    transaction.put(
        Keys.failure(job.id(), assignment().claim().token()),
        DocumentVersion.ANY,
        JobJson.write(failure));
  }

  /**
   * Without settings about retries a failed job is given out at once, as often as the server
   * allows.
   */
  private static Optional<Duration> pause(
      Policy policy, Job job, Failure failure, Context context) {
    int failures = job.failures() + 1;
    if (job.waiting().limits().deadlines().exceeded(false, context.nowMillis()).isPresent()) {
      return Optional.empty();
    }
    if (!policy.setsRetries()) {
      Duration asked = Objects.requireNonNullElse(failure.wish().delay(), Duration.ZERO);
      return failures >= context.maxFailures()
          ? Optional.empty()
          : Optional.of(RetryPolicy.capped(asked));
    }
    String attempts = Integer.toString(context.maxFailures());
    return policy
        .over(new Policy(Map.of(Policy.Field.ATTEMPTS.key(), attempts)))
        .retries()
        .retry(
            failures,
            new RetryPolicy.Failed(failure.wish().code(), failure.wish().delay()),
            new SplittableRandom(assignmentSeed(job)));
  }

  /** Differs for each attempt, and is the same if its report is repeated. */
  private static long assignmentSeed(Job job) {
    return job.id().hashCode() * 31L + job.failures();
  }

  private void offerAgain(JobTransaction transaction, Job job, String group, Context context) {
    long delayMillis = Math.max(0, job.waiting().notBeforeMillis() - context.nowMillis());
    if (job.failures() > 0) {
      context.groups().filled(job.type(), group);
    }
    written = transaction.add(reported(job), group, Duration.ofMillis(delayMillis));
  }

  private void writeReturn(JobTransaction transaction, Job job, String reason, Context context) {
    JobClaim claim = assignment().claim();
    Job returned = Transitions.returned(job, context.maxReturns(), context.nowMillis());
    put(transaction, returned);
    Failure why = new Failure(assignment().worker(), context.nowMillis(), reason, null);
    transaction.put(
        Keys.returned(job.id(), claim.token()), DocumentVersion.ANY, JobJson.write(why));
    if (returned.status() == JobStatus.PENDING) {
      transaction.release(claim.ref());
      return;
    }
    transaction.delete(claim.ref());
    Failure last =
        new Failure(
            assignment().worker(),
            context.nowMillis(),
            "it was returned " + returned.returns() + " times, the last time: " + reason,
            null);
    transaction.put(
        Keys.failure(job.id(), claim.token()), DocumentVersion.ANY, JobJson.write(last));
  }

  private void put(JobTransaction transaction, Job next) {
    written = transaction.put(reported(next));
  }

  private StoredJob reported(Job next) {
    return new StoredJob(
        next, new StoredJob.Last(assignment().claim().token(), StoredJob.Kind.of(report)));
  }

  void stored(Outcome.Done done, JobStore store) {
    Job job = store.stored(Objects.requireNonNull(written), done);
    settled = rejection == null ? new Settled.Accepted(job) : new Settled.Refused(rejection);
  }

  /** What all attempts of one transaction share. */
  record Context(
      long nowMillis,
      int maxFailures,
      int maxReturns,
      Groups groups,
      Function<String, Policy> policies) {}
}

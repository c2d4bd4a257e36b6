package io.millrace.jobs;

import io.millrace.blobs.Value;
import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.When;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A report on its way to be stored. For use by one thread. */
final class Attempt {
  private static final int METADATA_BYTES = 1_500;
  private static final int BYTES_A_CHARACTER = 3;

  private Report report;

  /** The job as it is known. */
  private @Nullable Entry entry;

  /** The job that is made of the result; null for none. */
  private @Nullable NewJob child;

  /** The job that is made of the result later; null for none. */
  private Job.@Nullable FollowOn followOn;

  /** Why the store does not take what was reported; null when it may. */
  private @Nullable String rejection;

  private @Nullable Settled settled;
  private int document;
  private boolean claimWasMissing;

  Attempt(Report report) {
    this.report = report;
    Job job = assignment().job();
    this.entry = new Entry(job, null);
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

  /** Looks at what is known of the job; settles it where that decides already. */
  void judge(@Nullable Entry found) {
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
    if (new Entry.Last(claim.token(), Entry.Kind.of(report)).equals(found.last())) {
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

  /** The store says that the claim is not this one's; twice, and a look has not explained it. */
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
   * @param next how many documents the transaction puts already
   * @return how many more it puts
   */
  int writeTo(
      Transaction.Builder transaction, Batches.@Nullable Spot spot, Context context, int next) {
    Entry from = Objects.requireNonNull(entry);
    Job job = from.job();
    document = next;
    return switch (report) {
      case Report.Completed(Assignment _, Value result) -> {
        NewJob made = child;
        JobId childId = made == null ? null : made.id();
        Job.FollowOn later = followOn;
        put(
            transaction,
            Transitions.completed(job, result.size(), childId, later, context.nowMillis()),
            null);
        transaction.delete(assignment().claim().ref());
        transaction.put(Keys.result(job.id()), DocumentVersion.ANY, Contents.body(result));
        if (later != null) {
          transaction.put(Keys.followOn(job.id()), DocumentVersion.ANY, Bytes.of(later.type()));
          yield 3;
        }
        yield made == null || spot == null ? 2 : 2 + made.writeTo(transaction, spot);
      }
      case Report.Failed(Assignment _, Failure failure) -> {
        Job failed = Transitions.failed(job, context.maxFailures(), context.nowMillis());
        boolean again = failed.status() == JobStatus.PENDING;
        String name = job.id().toString();
        put(transaction, failed, again ? name : null);
        transaction.delete(assignment().claim().ref());
        if (again) {
          String group = Groups.failed(job.type(), assignment().worker());
          context.groups().filled(job.type(), group);
          transaction.add(new Add(group, Bytes.of(name), When.now(), false, name));
        }
        transaction.put(
            Keys.failure(job.id(), assignment().claim().token()),
            DocumentVersion.ANY,
            FailureForm.write(failure));
        yield 2;
      }
      case Report.Returned(Assignment assignment, String reason) -> {
        if (reason == null) {
          put(transaction, Transitions.returned(job), null);
          transaction.update(assignment.claim().ref(), null, Settling.BEFORE_ALL);
          yield 1;
        }
        Job returned = Transitions.returned(job, context.maxReturns(), context.nowMillis());
        put(transaction, returned, null);
        long token = assignment.claim().token();
        Failure why = new Failure(assignment.worker(), context.nowMillis(), reason, null);
        transaction.put(
            Keys.returned(job.id(), token), DocumentVersion.ANY, FailureForm.write(why));
        if (returned.status() == JobStatus.PENDING) {
          transaction.update(assignment.claim().ref(), null, Settling.BEFORE_ALL);
          yield 2;
        }
        transaction.delete(assignment.claim().ref());
        Failure last =
            new Failure(
                assignment.worker(),
                context.nowMillis(),
                "it was returned " + returned.returns() + " times, the last time: " + reason,
                null);
        transaction.put(
            Keys.failure(job.id(), token), DocumentVersion.ANY, FailureForm.write(last));
        yield 3;
      }
    };
  }

  private void put(Transaction.Builder transaction, Job next, @Nullable String added) {
    Entry.Last last = new Entry.Last(assignment().claim().token(), Entry.Kind.of(report));
    transaction.put(
        new Put(
            Keys.job(id()),
            next.place().version(),
            JobForm.write(new Entry(next, last), added),
            added != null));
  }

  void stored(Outcome.Done done, KnownJobs known) {
    Job job = known.read(done.documents().get(document)).job();
    settled = rejection == null ? new Settled.Accepted(job) : new Settled.Refused(rejection);
  }

  /** What all attempts of one transaction share. */
  record Context(long nowMillis, int maxFailures, int maxReturns, Groups groups) {}
}

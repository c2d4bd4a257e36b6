package io.millrace.jobs.registry;

import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.jobs.Submission;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What users do to stored jobs: delete, cancel, retry, move.
 *
 * <p>The kernel task of a job may have a claim that is not on record yet. Such a claim is
 * overridden. That is safe: every transaction here names the version of the job's document, so it
 * is refused if a claim has come on record since; and an overridden claim can no longer come on
 * record, since that transaction would name the same version and the task. Without the override a
 * user would wait until such a claim ends, ten seconds if its process has died.
 */
final class UserActions {
  /** The attempt from which on a claim that is not on record is overridden. */
  private static final int OVERRIDE_FROM = 2;

  private final JobStore store;

  UserActions(JobStore store) {
    this.store = store;
  }

  /** A change of a job; null if something changed meanwhile. */
  private interface Step {
    @Nullable Job make(StoredJob entry, int number);
  }

  private Optional<Job> change(Supplier<Optional<StoredJob>> look, Step step) {
    AtomicInteger number = new AtomicInteger();
    return store.retry("a job", look, entry -> step.make(entry, number.getAndIncrement()));
  }

  /** Begins a transaction that may change the kernel task of a job. */
  private JobTransaction begin(Job job, int number) {
    JobClaim claim = job.hand().claim();
    Owner owner = claim == null ? store.self() : claim.owner();
    JobTransaction transaction = new JobTransaction(owner);
    transaction.override(number >= OVERRIDE_FROM);
    return transaction;
  }

  private static void deleteTask(JobTransaction transaction, Job job) {
    if (job.place().task() != 0) {
      transaction.delete(TaskRef.origin(job.place().task()));
    }
  }

  Optional<Job> delete(Supplier<Optional<StoredJob>> look) {
    Optional<Job> deleted = change(look, this::delete);
    deleted.ifPresent(this::deletePayload);
    return deleted;
  }

  private @Nullable Job delete(StoredJob entry, int number) {
    Job job = entry.job();
    JobTransaction transaction = begin(job, number);
    Optional<String> blob = addDelete(transaction, job);
    if (!(store.commit(transaction) instanceof Outcome.Done)) {
      return null;
    }
    blob.ifPresent(store.blobs()::delete);
    return job;
  }

  /**
   * Adds the deletion of a job, with all that belongs to it but the blob of its payload.
   *
   * @return the name of the blob of its result, to be deleted after the commit
   */
  Optional<String> addDelete(JobTransaction transaction, Job job) {
    JobId id = job.id();
    deleteTask(transaction, job);
    transaction.delete(Keys.job(id), job.place().version());
    transaction.delete(Keys.member(job.batch(), id), DocumentVersion.ANY);
    if (job.order().key() != null) {
      transaction.delete(Keys.name(job.order().key()), DocumentVersion.ANY);
    }
    new UniqueJobs(store).delete(transaction, job);
    if (job.place().deadlineMillis() > 0) {
      transaction.delete(Keys.deadline(job.place().deadlineMillis(), id), DocumentVersion.ANY);
    }
    if (JobStore.isInline(job.content().payload())) {
      transaction.delete(Keys.payload(id), DocumentVersion.ANY);
    }
    Long result = job.content().result();
    Optional<String> blob = Optional.empty();
    if (result != null) {
      blob = JobStore.isInline(result) ? blob : store.resultBlob(id);
      transaction.delete(Keys.result(id), DocumentVersion.ANY);
    }
    for (String history : List.of(Keys.FAILURES, Keys.RETURNS)) {
      for (Document attempt : store.pages(history, Keys.failures(id), "")) {
        transaction.delete(attempt.key(), DocumentVersion.ANY);
      }
    }
    if (job.line().followOn() != null) {
      transaction.delete(Keys.followOn(id), DocumentVersion.ANY);
    }
    return blob;
  }

  /** Deletes the blob of the payload of a job that is gone. */
  void deletePayload(Job job) {
    if (!JobStore.isInline(job.content().payload())) {
      store.blobs().delete(JobRegistry.payloadName(job.id()));
    }
  }

  Optional<Job> cancel(Supplier<Optional<StoredJob>> look) {
    return change(
        look,
        (entry, number) -> {
          Job job = entry.job();
          if (job.status().isEnd()) {
            throw new JobStateException(
                "job " + job.key() + " is " + job.status().word() + " and cannot be cancelled");
          }
          return end(entry, number, "cancelled");
        });
  }

  /** Fails a pending job for good, as it is; null if something changed meanwhile. */
  @Nullable Job expire(StoredJob entry, String limit) {
    return end(entry, 0, limit);
  }

  private @Nullable Job end(StoredJob entry, int number, String why) {
    JobTransaction transaction = begin(entry.job(), number);
    return commit(transaction, addEnd(transaction, entry, why));
  }

  /** Adds the failure of a job for good. */
  JobTransaction.Written addEnd(JobTransaction transaction, StoredJob entry, String why) {
    Job job = entry.job();
    long now = store.nowMillis();
    Failure failure = new Failure(null, now, why, null);
    deleteTask(transaction, job);
    JobTransaction.Written ended = transaction.put(entry.with(Transitions.cancelled(job, now)));
    transaction.put(
        Keys.failure(job.id(), job.place().version()), DocumentVersion.ANY, JobJson.write(failure));
    return ended;
  }

  Optional<Job> retry(Supplier<Optional<StoredJob>> look) {
    return change(
        look,
        (entry, _) -> {
          Job job = entry.job();
          if (job.status() != JobStatus.FAILED) {
            throw new JobStateException(
                "job "
                    + job.key()
                    + " is "
                    + job.status().word()
                    + "; only failed ones are retried");
          }
          JobTransaction transaction = new JobTransaction(store.self());
          return commit(transaction, addRetry(transaction, entry));
        });
  }

  /** Adds another offer of a failed job. */
  JobTransaction.Written addRetry(JobTransaction transaction, StoredJob entry) {
    Job job = entry.job();
    String group = Groups.waiting(job.type(), job.order().priority());
    return transaction.add(entry.with(Transitions.retried(job, store.nowMillis())), group);
  }

  /**
   * Adds the move of a pending or failed job to another type. A pending one waits there at the
   * place that follows from its submission, or until its time has come. It keeps its batch, its key
   * and priority, its failures and its times; a key or priority that it lacks is that of the type.
   *
   * @param keys the unique keys that jobs take in this transaction
   * @param written gets the job as it is written
   * @return why the job stays where it is; empty if it was added
   */
  Optional<String> addMove(
      JobTransaction transaction,
      StoredJob entry,
      Destination to,
      Set<String> keys,
      Consumer<JobTransaction.Written> written) {
    Job job = entry.job();
    Submission order;
    try {
      order = to.settings().inLane(job.order().withType(to.type()), () -> store.payloadValue(job));
    } catch (InvalidJobException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
    if (!new UniqueJobs(store).move(transaction, job, order, keys)) {
      return Optional.of("its unique key is taken among the jobs of the other type");
    }
    StoredJob moved = entry.with(Transitions.moved(job, order));
    if (job.status() != JobStatus.PENDING) {
      written.accept(transaction.put(moved));
      return Optional.empty();
    }
    String group = Groups.of(moved.job());
    if (job.failures() > 0) {
      to.groups().filled(to.type(), group);
    }
    long delayMillis = job.waiting().notBeforeMillis() - store.nowMillis();
    deleteTask(transaction, job);
    written.accept(
        transaction.add(
            moved,
            group,
            delayMillis > 0
                ? new When.After(delayMillis)
                : new When.At(Math.max(job.times().submitted(), job.waiting().notBeforeMillis()))));
    return Optional.empty();
  }

  /** The type to which jobs are moved, with what is known of all types. */
  record Destination(String type, TypeSettings settings, Groups groups) {}

  private @Nullable Job commit(JobTransaction transaction, JobTransaction.Written written) {
    return store.commit(transaction) instanceof Outcome.Done done
        ? store.stored(written, done)
        : null;
  }
}

package io.millrace.jobs;

import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.When;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What users do to jobs that are there: delete, cancel, retry.
 *
 * <p>The kernel task of a job may be claimed by somebody whose claim is not on record yet. That one
 * is overridden, which is safe: every transaction here names the version of the job's document, so
 * it is refused where a claim has come on record since; and whoever holds the overridden claim puts
 * it on record in a transaction that names that version and the task, both of which are gone by
 * then. So nobody is ever given a job that was taken from under the claim. Without the override a
 * user would wait until such a claim ends, ten seconds where its holder has died.
 */
final class Removing {
  /** From this attempt on, a claim that is not on record is overridden. */
  private static final int PATIENCE = 2;

  private final Ledger ledger;

  Removing(Ledger ledger) {
    this.ledger = ledger;
  }

  /** A change of a job; null where something changed meanwhile. */
  private interface Step {
    @Nullable Job make(Entry entry, int number);
  }

  private Optional<Job> change(Supplier<Optional<Entry>> look, Step step) {
    return ledger.insist(
        "a job",
        number -> {
          Optional<Entry> entry = look.get();
          if (entry.isEmpty()) {
            return Optional.<Job>empty();
          }
          Job done = step.make(entry.get(), number);
          return done == null ? null : Optional.of(done);
        });
  }

  /** Begins a transaction that may change the kernel task of a job. */
  private Transaction.Builder begin(Job job, int number) {
    JobClaim claim = job.hand().claim();
    Owner owner = claim == null ? ledger.self() : claim.owner();
    return Transaction.by(owner).override(number >= PATIENCE);
  }

  private static void deleteTask(Transaction.Builder transaction, Job job) {
    if (job.place().task() != 0) {
      transaction.delete(TaskRef.origin(job.place().task()));
    }
  }

  Optional<Job> delete(Supplier<Optional<Entry>> look) {
    Optional<Job> deleted = change(look, this::delete);
    deleted.ifPresent(job -> {
      if (!Contents.isInline(job.content().payload())) {
        ledger.blobs().delete(JobRegistry.payloadName(job.id()));
      }
    });
    return deleted;
  }

  private @Nullable Job delete(Entry entry, int number) {
    Job job = entry.job();
    JobId id = job.id();
    Transaction.Builder transaction = begin(job, number);
    deleteTask(transaction, job);
    transaction.delete(Keys.job(id), job.place().version());
    transaction.delete(Keys.member(job.batch(), id), DocumentVersion.ANY);
    if (job.order().key() != null) {
      transaction.delete(Keys.name(job.order().key()), DocumentVersion.ANY);
    }
    if (Contents.isInline(job.content().payload())) {
      transaction.delete(Keys.payload(id), DocumentVersion.ANY);
    }
    Long result = job.content().result();
    Optional<String> blob = Optional.empty();
    if (result != null) {
      blob = Contents.isInline(result) ? blob : new Contents(ledger).resultBlob(id);
      transaction.delete(Keys.result(id), DocumentVersion.ANY);
    }
    for (String history : List.of(Keys.FAILURES, Keys.RETURNS)) {
      ledger.each(
          history,
          Keys.failures(id),
          attempt -> transaction.delete(attempt.key(), DocumentVersion.ANY));
    }
    if (job.line().followOn() != null) {
      transaction.delete(Keys.followOn(id), DocumentVersion.ANY);
    }
    if (!(ledger.commit(transaction.build()) instanceof Outcome.Done)) {
      return null;
    }
    blob.ifPresent(ledger.blobs()::delete);
    return job;
  }

  Optional<Job> cancel(Supplier<Optional<Entry>> look) {
    return change(
        look,
        (entry, number) -> {
          Job job = entry.job();
          if (job.status().isEnd()) {
            throw new JobStateException(
                "job " + job.key() + " is " + job.status().word() + " and cannot be cancelled");
          }
          long now = ledger.nowMillis();
          Failure failure = new Failure(null, now, "cancelled", null);
          Transaction.Builder transaction = begin(job, number);
          deleteTask(transaction, job);
          transaction.put(
              Keys.job(job.id()),
              job.place().version(),
              JobForm.write(entry.with(Transitions.cancelled(job, now)), null));
          transaction.put(
              Keys.failure(job.id(), job.place().version()),
              DocumentVersion.ANY,
              FailureForm.write(failure));
          return first(transaction);
        });
  }

  Optional<Job> retry(Supplier<Optional<Entry>> look) {
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
          String name = job.id().toString();
          String group = Groups.waiting(job.type(), job.order().priority());
          Transaction.Builder transaction = Transaction.by(ledger.self());
          transaction.add(new Add(group, Bytes.of(name), When.now(), false, name));
          transaction.put(
              new Put(
                  Keys.job(job.id()),
                  job.place().version(),
                  JobForm.write(entry.with(Transitions.retried(job)), name),
                  true));
          return first(transaction);
        });
  }

  private @Nullable Job first(Transaction.Builder transaction) {
    return ledger.commit(transaction.build()) instanceof Outcome.Done done
        ? ledger.known().read(done.documents().getFirst()).job()
        : null;
  }
}

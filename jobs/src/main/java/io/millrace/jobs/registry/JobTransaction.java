package io.millrace.jobs.registry;

import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.Transaction.Taking;
import io.millrace.store.Transaction.When;
import io.millrace.work.policy.Policy;
import java.time.Duration;

/**
 * A transaction that writes jobs. Its answer says which versions and task ids the jobs have got, so
 * that nothing is parsed that was just written. For use by one thread.
 */
final class JobTransaction {
  /** Offers a task before all that were never claimed; among its like the older one comes first. */
  private static final When BEFORE_ALL = new When.At(0);

  private final Transaction.Builder transaction;
  private int documents;
  private int adds;
  private int changes;
  private int takings;

  JobTransaction(Owner owner) {
    this.transaction = Transaction.by(owner);
  }

  /** What a written job gets from the kernel task of the same transaction. */
  private enum Template {
    /** Nothing. */
    NONE,
    /** Its kernel task is the one that is added. */
    ADDED,
    /** Its claim's token is the new id of the task that is taken. */
    TAKEN
  }

  /** A job that the transaction writes. */
  final class Written {
    private final StoredJob job;
    private final Template template;
    private final int document;
    private final int task;

    private Written(StoredJob job, Template template, int task) {
      this.job = job;
      this.template = template;
      this.document = documents;
      this.task = task;
    }

    /** The job as the transaction has stored it. */
    StoredJob in(Outcome.Done done) {
      long version = done.documents().get(document).version();
      Job stored = job.job();
      return job.with(
          switch (template) {
            case NONE -> Transitions.stored(stored, version, stored.place().task(), stored.hand());
            case ADDED ->
                Transitions.stored(stored, version, done.tasks().get(task).origin(), stored.hand());
            case TAKEN -> {
              long token = done.tasks().get(adds + changes + task).id();
              JobClaim claim = stored.hand().claim();
              yield Transitions.stored(
                  stored,
                  version,
                  stored.place().task(),
                  new Job.Hand(
                      stored.hand().worker(),
                      claim == null ? null : new JobClaim(claim.client(), claim.origin(), token)));
            }
          });
    }
  }

  /**
   * A job as it is to be written: without a unique key that it no longer holds, and to be looked at
   * when it is over time.
   */
  private StoredJob prepared(StoredJob next) {
    StoredJob entry = UniqueJobs.released(next, transaction);
    Job job = entry.job();
    long before = job.place().deadlineMillis();
    long deadline = job.deadlineMillis();
    if (deadline == before) {
      return entry;
    }
    if (before > 0) {
      transaction.delete(Keys.deadline(before, job.id()), DocumentVersion.ANY);
    }
    if (deadline > 0) {
      put(Keys.deadline(deadline, job.id()), DocumentVersion.ABSENT, Bytes.of(job.id().toString()));
    }
    return entry.with(Transitions.watched(job, deadline));
  }

  /** Writes a job that keeps its kernel task, or has none. */
  Written put(StoredJob next) {
    StoredJob job = prepared(next);
    Written written = new Written(job, Template.NONE, 0);
    put(job, JobJson.write(job), false);
    return written;
  }

  /**
   * Writes a job with a new kernel task in this group.
   *
   * @param delay after which it can be claimed; zero for at once
   */
  Written add(StoredJob next, String group, Duration delay) {
    return add(next, group, delay.isZero() ? When.now() : When.after(delay));
  }

  /** Writes a job with a new kernel task in this group, which can be claimed from then on. */
  Written add(StoredJob next, String group, When when) {
    StoredJob job = prepared(next);
    Written written = new Written(job, Template.ADDED, adds);
    String name = job.job().id().toString();
    Policy policy = job.job().order().policy();
    transaction.add(
        new Add(group, Bytes.of(name), when, false, name, policy.isEmpty() ? null : policy.lane()));
    adds++;
    put(job, JobJson.writeAdded(job, name), true);
    return written;
  }

  /** Writes a job with a new kernel task in this group, which can be claimed at once. */
  Written add(StoredJob job, String group) {
    return add(job, group, Duration.ZERO);
  }

  /** Writes a job whose kernel task is claimed; its claim has no token yet. */
  Written take(StoredJob next, TaskRef task, Duration lease) {
    StoredJob job = prepared(next);
    Written written = new Written(job, Template.TAKEN, takings);
    String name = job.job().id().toString();
    transaction.take(new Taking(task, lease.toMillis(), name));
    takings++;
    put(job, JobJson.writeTaken(job, name), true);
    return written;
  }

  private void put(StoredJob job, Bytes body, boolean template) {
    JobId id = job.job().id();
    transaction.put(new Put(Keys.job(id), job.job().place().version(), body, template));
    documents++;
  }

  void put(DocumentKey key, long version, Bytes body) {
    transaction.put(key, version, body);
    documents++;
  }

  void delete(DocumentKey key, long version) {
    transaction.delete(key, version);
  }

  void delete(TaskRef task) {
    transaction.delete(task);
  }

  /** Releases a claim; the job keeps its place before those that were never claimed. */
  void release(TaskRef task) {
    transaction.update(task, null, BEFORE_ALL);
    changes++;
  }

  void renew(TaskRef task, Duration lease) {
    transaction.renew(task, lease);
    changes++;
  }

  /** Whether tasks may be changed that another client has claimed. */
  void override(boolean on) {
    transaction.override(on);
  }

  /** For what is committed with the jobs, once all of them have been added. */
  Transaction.Builder builder() {
    return transaction;
  }

  Transaction build() {
    return transaction.build();
  }
}

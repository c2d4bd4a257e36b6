package io.millrace.jobs;

import io.millrace.store.Outcome;
import io.millrace.store.Reason;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Put;
import io.millrace.store.Transaction.Taking;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** How it comes on record that workers have jobs, many in one transaction. */
final class Recording {
  private static final int MOST = 1_000;
  private static final int ATTEMPTS = 5;

  private final Ledger ledger;
  private final Duration lease;

  Recording(Ledger ledger, Duration lease) {
    this.ledger = ledger;
    this.lease = lease;
  }

  /**
   * Takes waiting tasks and puts that on record, in one commit.
   *
   * @param waiting tasks that may be somebody else's by now
   * @param ready who is to have a job, each as often as it can have one; those that get one leave
   * @param assigned gets what came of it
   */
  void take(List<Task> waiting, List<WorkerId> ready, List<Assignment> assigned) {
    record(new ArrayList<>(waiting), this::taking, ready, assigned);
  }

  /** Puts claims on record, which prolongs them; lets go of those that cannot be put there. */
  void prolong(List<Task> claimed, List<WorkerId> ready, List<Assignment> assigned) {
    List<Task> left = new ArrayList<>(claimed);
    try {
      record(left, this::prolonging, ready, assigned);
    } catch (JobsFullException e) {
      left.forEach(this::release);
      throw e;
    }
    left.forEach(this::release);
  }

  /** A task, the job it stands for, and who is to have it. */
  private record Chosen(Task task, Entry entry, WorkerId worker) {
    Job job() {
      return entry.job();
    }
  }

  /** Adds to a transaction what gives a job to its worker: one document. */
  private interface Step {
    void writeTo(Transaction.Builder transaction, Chosen chosen, long nowMillis);
  }

  private void taking(Transaction.Builder transaction, Chosen chosen, long nowMillis) {
    Job job = chosen.job();
    String name = job.id().toString();
    JobClaim claim = JobClaim.beforeCommit(ledger.self().client(), chosen.task().origin());
    Job next = Transitions.assigned(job, chosen.worker(), claim, nowMillis);
    transaction
        .take(new Taking(chosen.task().ref(), lease.toMillis(), name))
        .put(
            new Put(
                Keys.job(job.id()),
                job.place().version(),
                JobForm.writeTaken(chosen.entry().with(next), name),
                true));
  }

  private void prolonging(Transaction.Builder transaction, Chosen chosen, long nowMillis) {
    Job job = chosen.job();
    Task task = chosen.task();
    JobClaim claim = new JobClaim(ledger.self().client(), task.origin(), task.token());
    Job next = Transitions.assigned(job, chosen.worker(), claim, nowMillis);
    transaction
        .renew(task.ref(), lease)
        .put(
            Keys.job(job.id()),
            job.place().version(),
            JobForm.write(chosen.entry().with(next), null));
  }

  /** What remains in {@code left} may still be had, but could not be put on record. */
  private void record(List<Task> left, Step step, List<WorkerId> ready, List<Assignment> assigned) {
    for (int i = 0; i < ATTEMPTS && !left.isEmpty(); i++) {
      List<Chosen> chosen = look(left, ready);
      Round round = new Round();
      left.clear();
      chosen.stream().map(Chosen::task).forEach(left::add);
      try {
        Ledger.inParts(chosen, MOST, part -> commit(part, step, round));
      } finally {
        round.recorded.forEach(assignment -> ready.remove(assignment.worker()));
        assigned.addAll(round.recorded);
        left.removeIf(round::isOver);
      }
    }
  }

  /** How one try went: what is on record, and which tasks are not to be had any more. */
  private static final class Round {
    final List<Assignment> recorded = new ArrayList<>();
    final Set<Long> over = new HashSet<>();

    boolean isOver(Task task) {
      return over.contains(task.id());
    }
  }

  /** What tasks stand for; those whose job is gone or has ended are deleted. */
  private List<Chosen> look(List<Task> tasks, List<WorkerId> workers) {
    Map<JobId, Long> origins = new HashMap<>();
    tasks.forEach(task -> origins.put(JobForm.id(task.data().utf8()), task.origin()));
    Map<JobId, Entry> entries =
        ledger.entries(
            origins.keySet(),
            entry -> isFor(entry.job(), origins.getOrDefault(entry.job().id(), 0L)));
    List<Chosen> chosen = new ArrayList<>(tasks.size());
    for (Task task : tasks) {
      Entry entry = entries.get(JobForm.id(task.data().utf8()));
      if (entry != null && !isFor(entry.job(), task.origin())) {
        // Of two tasks of one job one is left over; which, only the store knows.
        entry = ledger.entry(entry.job().id()).orElse(null);
      }
      if (entry == null || !isFor(entry.job(), task.origin())) {
        ledger.commit(Transaction.by(ledger.self()).delete(task.ref()).build());
      } else {
        chosen.add(new Chosen(task, entry, workers.get(chosen.size())));
      }
    }
    return chosen;
  }

  private static boolean isFor(Job job, long origin) {
    return job.place().task() == origin;
  }

  private void commit(List<Chosen> part, Step step, Round round) {
    long now = ledger.nowMillis();
    Transaction.Builder transaction = Transaction.by(ledger.self());
    part.forEach(chosen -> step.writeTo(transaction, chosen, now));
    switch (ledger.commit(transaction.build())) {
      case Outcome.Done done -> {
        for (int i = 0; i < part.size(); i++) {
          Chosen chosen = part.get(i);
          Job job = ledger.known().read(done.documents().get(i)).job();
          JobClaim claim = Objects.requireNonNull(job.hand().claim());
          round.recorded.add(new Assignment(job, chosen.worker(), claim));
          round.over.add(chosen.task().id());
        }
      }
      case Outcome.Refused refused -> {
        part.forEach(chosen -> ledger.known().forget(chosen.job().id()));
        for (Reason reason : refused.reasons()) {
          if (reason.task() != null) {
            round.over.add(reason.task().id());
          }
        }
      }
    }
  }

  /** Lets go of a claim; the job keeps its place before those that were never claimed. */
  private void release(Task task) {
    ledger.commit(
        Transaction.by(ledger.self()).update(task.ref(), null, Settling.BEFORE_ALL).build());
  }
}

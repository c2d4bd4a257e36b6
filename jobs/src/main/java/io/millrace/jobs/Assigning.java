package io.millrace.jobs;

import io.millrace.store.Claim;
import io.millrace.store.ClaimOrder;
import io.millrace.store.Outcome;
import io.millrace.store.Reason;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How workers come to jobs: a short claim in the kernel, then its record, which prolongs it. So a
 * job is offered again soon where the server ends in between, or never hears the answer.
 */
final class Assigning {
  /** How long a claim lasts that never comes on record. */
  private static final Duration UNTIL_RECORDED = Duration.ofSeconds(10);

  private static final int ATTEMPTS = 5;

  private final Ledger ledger;
  private final Groups groups;
  private final Duration lease;

  /** The most tasks and groups of one claim; halved where the store allows fewer. */
  private volatile int mostTasks = 1_000;

  private volatile int mostGroups = 100;

  Assigning(Ledger ledger, Groups groups, Duration lease) {
    this.ledger = ledger;
    this.groups = groups;
    this.lease = lease;
  }

  List<Assignment> assign(String type, List<WorkerId> workers) {
    List<Assignment> assigned = new ArrayList<>();
    try {
      assign(type, new ArrayList<>(workers), assigned);
    } catch (JobsFullException e) {
      if (assigned.isEmpty()) {
        throw e;
      }
    }
    return assigned;
  }

  private void assign(String type, List<WorkerId> ready, List<Assignment> assigned) {
    take(Groups.waiting(type), ready, assigned);
    if (ready.isEmpty()) {
      return;
    }
    List<String> failed = groups.failed(type);
    if (failed.isEmpty()) {
      return;
    }
    for (WorkerId worker : new LinkedHashSet<>(ready)) {
      String own = Groups.failed(type, worker);
      List<WorkerId> same = new ArrayList<>(ready.stream().filter(worker::equals).toList());
      List<String> others = failed.stream().filter(group -> !group.equals(own)).toList();
      for (int from = 0; from < others.size() && !same.isEmpty(); ) {
        int to = Math.min(others.size(), from + mostGroups);
        take(others.subList(from, to), same, assigned);
        from = to;
      }
    }
  }

  /** Takes from groups until nothing is left there, or nobody is left who is ready. */
  private void take(List<String> from, List<WorkerId> ready, List<Assignment> assigned) {
    while (!ready.isEmpty()) {
      int asked = Math.min(ready.size(), mostTasks);
      List<Task> tasks = claim(from, asked);
      record(tasks, ready, assigned);
      if (tasks.size() < asked) {
        return;
      }
    }
  }

  private List<Task> claim(List<String> from, int count) {
    Claim claim =
        Claim.of(ledger.self(), from.getFirst(), shorter(lease, UNTIL_RECORDED))
            .withGroups(from)
            .withCount(count)
            .withOrder(ClaimOrder.OLDEST);
    try {
      return switch (Ledger.check(ledger.store().claim(claim))) {
        case Outcome.Done done -> done.tasks();
        case Outcome.Refused _ -> List.of();
      };
    } catch (TooLargeException e) {
      if (count == 1 && from.size() == 1) {
        throw e;
      }
      mostTasks = Math.max(1, count / 2);
      mostGroups = Math.max(1, from.size() / 2);
      return claim(from.subList(0, Math.max(1, from.size() / 2)), Math.max(1, count / 2));
    }
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** A claimed task, the job it stands for, and who is to have it. */
  private record Taken(Task task, Entry entry, WorkerId worker) {
    JobClaim claim(long client) {
      return new JobClaim(client, task.origin(), task.token());
    }
  }

  /** Puts claims on record; those that cannot be, as in a full store, are let go of. */
  private void record(List<Task> tasks, List<WorkerId> ready, List<Assignment> assigned) {
    List<Task> left = new ArrayList<>(tasks);
    try {
      for (int i = 0; i < ATTEMPTS && !left.isEmpty(); i++) {
        List<Taken> taken = look(left, ready);
        Round round = new Round();
        left.clear();
        taken.stream().map(Taken::task).forEach(left::add);
        try {
          Ledger.inParts(taken, mostTasks, part -> commit(part, round));
        } finally {
          round.recorded.forEach(assignment -> ready.remove(assignment.worker()));
          assigned.addAll(round.recorded);
          left.removeIf(round::isOver);
        }
      }
    } catch (JobsFullException e) {
      left.forEach(this::release);
      throw e;
    }
    left.forEach(this::release);
  }

  /** How one try went: what is on record, and which claims are not there any more. */
  private static final class Round {
    final List<Assignment> recorded = new ArrayList<>();
    final Set<Long> over = new HashSet<>();

    boolean isOver(Task task) {
      return over.contains(task.id());
    }
  }

  /** What tasks stand for; those whose job is gone or has ended are deleted. */
  private List<Taken> look(List<Task> tasks, List<WorkerId> workers) {
    Map<JobId, Long> origins = new HashMap<>();
    tasks.forEach(task -> origins.put(JobForm.id(task.data().utf8()), task.origin()));
    Map<JobId, Entry> entries =
        ledger.entries(
            origins.keySet(),
            entry -> isFor(entry.job(), origins.getOrDefault(entry.job().id(), 0L)));
    List<Taken> taken = new ArrayList<>(tasks.size());
    for (Task task : tasks) {
      Entry entry = entries.get(JobForm.id(task.data().utf8()));
      if (entry != null && !isFor(entry.job(), task.origin())) {
        // Of two tasks of one job one is left over; which, only the store knows.
        entry = ledger.entry(entry.job().id()).orElse(null);
      }
      if (entry == null || !isFor(entry.job(), task.origin())) {
        ledger.commit(Transaction.by(ledger.self()).delete(task.ref()).build());
      } else {
        taken.add(new Taken(task, entry, workers.get(taken.size())));
      }
    }
    return taken;
  }

  private static boolean isFor(Job job, long origin) {
    return job.place().task() == origin;
  }

  private void commit(List<Taken> taken, Round round) {
    long now = ledger.nowMillis();
    long client = ledger.self().client();
    Transaction.Builder transaction = Transaction.by(ledger.self());
    for (Taken each : taken) {
      Job job = each.entry().job();
      Job next = Transitions.assigned(job, each.worker(), each.claim(client), now);
      transaction
          .renew(each.task().ref(), lease)
          .put(
              Keys.job(job.id()),
              job.place().version(),
              JobForm.write(each.entry().with(next), null));
    }
    switch (ledger.commit(transaction.build())) {
      case Outcome.Done done -> {
        for (int i = 0; i < taken.size(); i++) {
          Taken each = taken.get(i);
          Job job = ledger.known().read(done.documents().get(i)).job();
          round.recorded.add(new Assignment(job, each.worker(), each.claim(client)));
          round.over.add(each.task().id());
        }
      }
      case Outcome.Refused refused -> {
        taken.forEach(each -> ledger.known().forget(each.entry().job().id()));
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

package io.millrace.jobs.registry;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobsException.JobsFullException;
import io.millrace.jobs.WorkerId;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupQuery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Assigns waiting jobs to workers. The oldest jobs that have not failed are claimed by name, in one
 * commit with their record. Failed jobs wait in many groups, so they are claimed from all of them
 * first, and then put on record; so are jobs that other processes are always faster to take, and
 * jobs with limits, keys or priorities, of which only a claim tells which are next.
 */
final class Assigning {
  /** How long a claim lasts if it never comes on record. */
  private static final Duration UNTIL_RECORDED = Duration.ofSeconds(10);

  /** How long a claim keeps its turn among those that wait for the same limits. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(20);

  private static final int ATTEMPTS = 5;

  private final JobStore store;
  private final Groups groups;
  private final Recording recording;
  private final TypeSettings settings;
  private final Duration claimLease;

  /** The claims that wait in the store for room within shared limits, by type. */
  private final Map<String, CompletableFuture<Outcome>> awaited = new ConcurrentHashMap<>();

  /** The most tasks and groups of one claim; halved if the store allows fewer. */
  private volatile int maxTasks = 1_000;

  private volatile int maxGroups = 100;

  Assigning(JobStore store, Groups groups, TypeSettings settings, Duration lease) {
    this.store = store;
    this.groups = groups;
    this.settings = settings;
    this.recording = new Recording(store, lease);
    this.claimLease = lease.compareTo(UNTIL_RECORDED) < 0 ? lease : UNTIL_RECORDED;
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
    if (settings.isLimited(type)) {
      recording.prolong(takeAwaited(type), ready, assigned);
      claimFrom(Groups.waiting(type), ready, assigned);
    } else {
      for (String group : Groups.waiting(type)) {
        takeFrom(group, ready, assigned);
      }
    }
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
        int to = Math.min(others.size(), from + maxGroups);
        claimFrom(others.subList(from, to), same, assigned);
        from = to;
      }
    }
  }

  /** Takes the oldest jobs until none is left there, or no worker is left. */
  private void takeFrom(String group, List<WorkerId> ready, List<Assignment> assigned) {
    for (int inVain = 0; !ready.isEmpty(); ) {
      if (inVain == ATTEMPTS) {
        claimFrom(List.of(group), ready, assigned);
        return;
      }
      int asked = Math.min(ready.size(), maxTasks);
      List<Task> oldest = store.store().group(GroupQuery.waiting(group).withLimit(asked)).value();
      if (!oldest.isEmpty() && oldest.getFirst().lane() != null) {
        // Such jobs are listed first, and the kernel says which of all jobs is next.
        claimFrom(List.of(group), ready, assigned);
        return;
      }
      int before = ready.size();
      recording.take(oldest, ready, assigned);
      if (oldest.size() < asked) {
        return;
      }
      inVain = ready.size() < before ? 0 : inVain + 1;
    }
  }

  /** Claims from groups until no job is left there, or no worker is left. */
  private void claimFrom(List<String> from, List<WorkerId> ready, List<Assignment> assigned) {
    while (!ready.isEmpty()) {
      int asked = Math.min(ready.size(), maxTasks);
      List<Task> claimed = claim(from, asked);
      recording.prolong(claimed, ready, assigned);
      if (claimed.size() < asked) {
        return;
      }
    }
  }

  /** Has one job claimed as soon as there is room for it, unless a claim waits already. */
  void await(String type, Runnable whenDone) {
    if (awaited.containsKey(type)) {
      return;
    }
    CompletableFuture<Outcome> answer =
        store.store().submit(claimOf(Groups.waiting(type), 1).withWait(LONGEST_WAIT));
    awaited.put(type, answer);
    var _ = answer.whenComplete((_, _) -> whenDone.run());
  }

  /** The job that was claimed while this waited; none if the wait goes on, or was in vain. */
  private List<Task> takeAwaited(String type) {
    CompletableFuture<Outcome> answer = awaited.get(type);
    if (answer == null || !answer.isDone()) {
      return List.of();
    }
    awaited.remove(type);
    // If the outcome is not known, a job that was claimed is free again soon.
    return answer.isCompletedExceptionally() || !(answer.join() instanceof Outcome.Done done)
        ? List.of()
        : done.tasks();
  }

  void giveBackAwaited(String type) {
    takeAwaited(type).forEach(recording::release);
  }

  private Claim claimOf(List<String> from, int count) {
    return Claim.of(store.self(), from.getFirst(), claimLease)
        .withGroups(from)
        .withCount(count)
        .withOrder(Claim.Order.OLDEST);
  }

  private List<Task> claim(List<String> from, int count) {
    try {
      return switch (store.check(store.store().claim(claimOf(from, count)))) {
        case Outcome.Done done -> done.tasks();
        case Outcome.Refused _ -> List.of();
      };
    } catch (JobStore.TooLargeException e) {
      if (count == 1 && from.size() == 1) {
        throw e;
      }
      maxTasks = Math.max(1, count / 2);
      maxGroups = Math.max(1, from.size() / 2);
      return claim(from.subList(0, Math.max(1, from.size() / 2)), Math.max(1, count / 2));
    }
  }

  /** Puts on record which workers have which jobs, many in one transaction. */
  static final class Recording {
    private static final int MOST = 1_000;
    private static final int ATTEMPTS = 5;

    private final JobStore store;
    private final Duration lease;

    Recording(JobStore store, Duration lease) {
      this.store = store;
      this.lease = lease;
    }

    /**
     * Takes waiting tasks and puts that on record, in one commit.
     *
     * @param waiting tasks that may have been claimed meanwhile
     * @param ready the workers, each as often as it takes a job; those that get one are removed
     * @param assigned gets the assignments
     */
    void take(List<Task> waiting, List<WorkerId> ready, List<Assignment> assigned) {
      record(new ArrayList<>(waiting), this::taking, ready, assigned);
    }

    /** Puts claims on record, which renews them; releases those that cannot be put there. */
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

    /** A task, its job, and the worker that is to have it. */
    private record Chosen(Task task, StoredJob entry, WorkerId worker) {
      Job job() {
        return entry.job();
      }
    }

    /** Adds to a transaction what gives a job to its worker: one document. */
    private interface Step {
      JobTransaction.Written writeTo(JobTransaction transaction, Chosen chosen, long nowMillis);
    }

    private JobTransaction.Written taking(
        JobTransaction transaction, Chosen chosen, long nowMillis) {
      Job job = chosen.job();
      JobClaim claim = new JobClaim(store.self().client(), chosen.task().origin(), 0);
      Job next = Transitions.assigned(job, chosen.worker(), claim, nowMillis);
      return transaction.take(chosen.entry().with(next), chosen.task().ref(), lease);
    }

    private JobTransaction.Written prolonging(
        JobTransaction transaction, Chosen chosen, long nowMillis) {
      Job job = chosen.job();
      Task task = chosen.task();
      JobClaim claim = new JobClaim(store.self().client(), task.origin(), task.token());
      Job next = Transitions.assigned(job, chosen.worker(), claim, nowMillis);
      transaction.renew(task.ref(), lease);
      return transaction.put(chosen.entry().with(next));
    }

    /** What remains in {@code left} could not be put on record, but is still available. */
    private void record(
        List<Task> left, Step step, List<WorkerId> ready, List<Assignment> assigned) {
      for (int i = 0; i < ATTEMPTS && !left.isEmpty(); i++) {
        List<Chosen> chosen = look(left, ready);
        Round round = new Round();
        left.clear();
        chosen.stream().map(Chosen::task).forEach(left::add);
        try {
          JobStore.inParts(chosen, MOST, part -> commit(part, step, round));
        } finally {
          round.recorded.forEach(assignment -> ready.remove(assignment.worker()));
          assigned.addAll(round.recorded);
          left.removeIf(round::isOver);
        }
      }
    }

    /** One try: what is on record, and which tasks are no longer available. */
    private static final class Round {
      final List<Assignment> recorded = new ArrayList<>();
      final Set<Long> over = new HashSet<>();

      boolean isOver(Task task) {
        return over.contains(task.id());
      }
    }

    /** The jobs of tasks; tasks whose job is gone or has ended are deleted. */
    private List<Chosen> look(List<Task> tasks, List<WorkerId> workers) {
      Map<JobId, Long> origins = new HashMap<>();
      tasks.forEach(task -> JobStore.job(task).ifPresent(id -> origins.put(id, task.origin())));
      Map<JobId, StoredJob> entries =
          store.entries(
              origins.keySet(),
              entry -> isFor(entry.job(), origins.getOrDefault(entry.job().id(), 0L)));
      List<Chosen> chosen = new ArrayList<>(tasks.size());
      for (Task task : tasks) {
        StoredJob entry = JobStore.job(task).map(entries::get).orElse(null);
        if (entry != null && !isFor(entry.job(), task.origin())) {
          // Of two tasks of one job one is left over. The store says which.
          entry = store.entry(entry.job().id()).orElse(null);
        }
        if (entry == null || !isFor(entry.job(), task.origin())) {
          store.remove(task);
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
      long now = store.nowMillis();
      JobTransaction transaction = new JobTransaction(store.self());
      List<JobTransaction.Written> written =
          part.stream().map(chosen -> step.writeTo(transaction, chosen, now)).toList();
      switch (store.commit(transaction)) {
        case Outcome.Done done -> {
          for (int i = 0; i < part.size(); i++) {
            Chosen chosen = part.get(i);
            Job job = store.stored(written.get(i), done);
            JobClaim claim = Objects.requireNonNull(job.hand().claim());
            round.recorded.add(new Assignment(job, chosen.worker(), claim));
            round.over.add(chosen.task().id());
          }
        }
        case Outcome.Refused refused -> {
          part.forEach(chosen -> store.known().forget(chosen.job().id()));
          for (Reason reason : refused.reasons()) {
            if (reason.task() != null) {
              round.over.add(reason.task().id());
            }
          }
        }
      }
    }

    /** Releases a claim; the job keeps its place before those that were never claimed. */
    private void release(Task task) {
      JobTransaction transaction = new JobTransaction(store.self());
      transaction.release(task.ref());
      store.commit(transaction);
    }
  }
}

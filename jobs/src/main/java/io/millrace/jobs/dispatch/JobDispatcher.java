package io.millrace.jobs.dispatch;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerPool;
import io.millrace.work.Backoff;
import io.millrace.work.DueTimes;
import io.millrace.work.LeaseKeeper;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Assigns waiting jobs to ready workers and settles the reports of attempts. It knows jobs and
 * workers only by the registry and the {@link WorkerPool}. {@link #step} is for one thread; the
 * other methods may be called by any.
 */
public final class JobDispatcher implements Step {
  /** How many jobs are assigned in one go. */
  private static final int MOST = 64;

  /** After which pause a report that could not be stored is tried again; doubled each time. */
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  /** How many reports are settled in one go. */
  private static final int MAX_REPORTS = 256;

  private final JobRegistry registry;
  private final WorkerPool pool;
  private final Duration renewAfter;
  private final Map<String, Demand> demands = new HashMap<>();
  private final Queue<JobChange> changes = new ConcurrentLinkedQueue<>();
  private final Deque<Report> reports = new ArrayDeque<>();

  /** Reports that could not be stored, by when they are due again. */
  private final PriorityQueue<Postponed> postponed =
      new PriorityQueue<>(Comparator.comparing(Postponed::due));

  /** When delayed jobs, and jobs that limits keep waiting, may be given out. */
  private final DueTimes<String> delayed = new DueTimes<>();

  /** The types for which a claim need not wait any longer. */
  private final Set<String> roomy = ConcurrentHashMap.newKeySet();

  private volatile Runnable wake = () -> {};
  private volatile boolean missed;
  private @Nullable Instant renewAt;

  /** A report that could not be stored, and when it is tried again. */
  private record Postponed(Report report, Instant due, Backoff backoff) {}

  /**
   * A dispatcher that has done nothing yet.
   *
   * @param lease how long claims last; they are renewed after a third of it
   */
  public JobDispatcher(JobRegistry registry, WorkerPool pool, Duration lease) {
    this.registry = registry;
    this.pool = pool;
    this.renewAfter = LeaseKeeper.renewAfter(lease);
  }

  /** Sets what is called, by any thread and quickly, when a step is due before its time. */
  public void wakeBy(Runnable call) {
    wake = call;
    pool.wakeBy(call);
  }

  /** Passes on a change of a job. */
  public void notice(JobChange change) {
    changes.add(change);
    wake.run();
  }

  /** Has it look at all jobs again, since it may have missed changes. */
  public void mayHaveMissed() {
    missed = true;
    wake.run();
  }

  @Override
  public Instant step(Instant now) {
    boolean more;
    Instant due;
    Instant watched;
    try {
      readChanges(now);
      due = renew(now);
      more = settle(now);
      more |= assign(now);
    } finally {
      // Connections are watched even if the store fails.
      watched = pool.step(now);
    }
    if (!postponed.isEmpty()) {
      due = earlier(due, postponed.peek().due());
    }
    long wait = delayed.waitNanos(nanos(now));
    if (wait < Long.MAX_VALUE) {
      due = earlier(due, now.plusNanos(wait));
    }
    return more ? now : earlier(due, watched);
  }

  private static Instant earlier(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }

  private static long nanos(Instant now) {
    return Duration.between(Instant.EPOCH, now).toNanos();
  }

  private void readChanges(Instant now) {
    if (missed) {
      missed = false;
      demands.values().forEach(Demand::offeredAgain);
      expect(_ -> true, now);
    }
    List<String> due = delayed.due(nanos(now));
    due.forEach(type -> demand(type).offeredAgain());
    Set<String> unread = delayed.takeUnread();
    if (!unread.isEmpty()) {
      expect(unread::contains, now);
    }
    for (JobChange change = changes.poll(); change != null; change = changes.poll()) {
      pool.changed(change);
      change
          .job()
          .filter(job -> job.status().isEnd() && registry.isLimited(job.type()))
          .ifPresent(job -> demand(job.type()).offered());
      change
          .job()
          .filter(job -> job.status() == JobStatus.PENDING)
          .ifPresent(job -> {
            Duration delay =
                job.waiting().notBeforeMillis() == 0 ? Duration.ZERO : registry.delay(job);
            if (!delay.isZero()) {
              delayed.add(job.type(), delay, nanos(now));
            } else if (job.failures() == 0) {
              demand(job.type()).offered();
            } else {
              demand(job.type()).offeredAgain();
            }
          });
    }
  }

  /** Learns when delayed jobs of these types may be given out. */
  private void expect(Predicate<String> types, Instant now) {
    try {
      registry
          .delays()
          .forEach((type, delays) -> {
            if (types.test(type)) {
              delayed.expect(type, delays, nanos(now));
            }
          });
    } catch (RuntimeException e) {
      missed = true;
      throw e;
    }
  }

  private Demand demand(String type) {
    return demands.computeIfAbsent(type, _ -> new Demand());
  }

  /** Settles reports; gives whether more wait. Those that could not be stored are kept. */
  private boolean settle(Instant now) {
    reports.addAll(pool.takeReports());
    if (!reports.isEmpty()) {
      List<Report> taken = reports.stream().limit(MAX_REPORTS).toList();
      List<Settled> outcomes = registry.settle(taken);
      for (int i = 0; i < taken.size(); i++) {
        reports.removeFirst();
        settled(taken.get(i), outcomes.get(i), null, now);
      }
    }
    while (!postponed.isEmpty() && !postponed.peek().due().isAfter(now)) {
      Postponed next = postponed.peek();
      Settled outcome = registry.settle(List.of(next.report())).getFirst();
      postponed.remove();
      settled(next.report(), outcome, next.backoff(), now);
    }
    return !reports.isEmpty();
  }

  private void settled(Report report, Settled outcome, @Nullable Backoff last, Instant now) {
    if (outcome instanceof Settled.Postponed) {
      Backoff backoff = last == null ? new Backoff(FIRST_PAUSE, LONGEST_PAUSE) : last;
      postponed.add(new Postponed(report, now.plus(backoff.next()), backoff));
    } else {
      pool.settled(report, outcome);
    }
  }

  /** Assigns jobs of all types; a failure with one type does not hold up the others. */
  private boolean assign(Instant now) {
    List<String> claimed = List.copyOf(roomy);
    claimed.forEach(type -> {
      roomy.remove(type);
      demand(type).offered();
    });
    boolean more = false;
    @Nullable JobsException failure = null;
    for (String type : pool.readyTypes()) {
      try {
        more |= assign(type, demand(type), now);
      } catch (JobsException e) {
        failure = e;
      }
    }
    // What no worker has taken: all have got other jobs meanwhile, or are gone.
    claimed.forEach(registry::giveBackAwaited);
    if (failure != null) {
      throw failure;
    }
    return more;
  }

  private boolean assign(String type, Demand demand, Instant now) {
    if (!demand.isOpen() && !pool.needsAnswer(type)) {
      return false;
    }
    List<WorkerPool.Slot> slots = pool.reserve(type, MOST, demand::wants);
    if (slots.isEmpty()) {
      return false;
    }
    List<WorkerPool.Slot> left = new ArrayList<>(slots);
    try {
      List<WorkerId> workers = slots.stream().map(WorkerPool.Slot::worker).toList();
      for (Assignment assignment : registry.assign(type, workers)) {
        pool.assign(take(left, assignment.worker()), assignment);
      }
    } finally {
      pool.release(left);
    }
    if (left.isEmpty()) {
      return true;
    }
    demand.exhausted(left.stream().map(WorkerPool.Slot::worker).toList(), registry.hasFailed(type));
    registry
        .pauseForLimits(type)
        .ifPresent(pause -> {
          delayed.add(type, pause, nanos(now));
          registry.awaitRoom(
              type,
              () -> {
                roomy.add(type);
                wake.run();
              });
        });
    return false;
  }

  private static WorkerPool.Slot take(List<WorkerPool.Slot> slots, WorkerId worker) {
    for (WorkerPool.Slot slot : slots) {
      if (slot.worker().equals(worker)) {
        slots.remove(slot);
        return slot;
      }
    }
    throw new IllegalStateException("a job was assigned to a worker that was not named: " + worker);
  }

  /** Renews claims if that is due; returns when it is due again. */
  private Instant renew(Instant now) {
    Instant due = renewAt;
    if (due == null || due.isAfter(now)) {
      due = due == null ? now.plus(renewAfter) : due;
    } else {
      List<Assignment> assignments = pool.activeAssignments();
      if (!assignments.isEmpty()) {
        pool.revoke(registry.renew(assignments));
      }
      // No change shows that a claim ended before it was on record.
      demands.values().forEach(Demand::offeredAgain);
      due = now.plus(renewAfter);
    }
    renewAt = due;
    return due;
  }

  /**
   * Whether jobs of one type may be waiting: jobs for any worker, and jobs that have failed, which
   * a worker that failed at them does not get. For use by one thread.
   */
  static final class Demand {
    private boolean fresh = true;
    private boolean failed = true;
    private final Set<WorkerId> tried = new HashSet<>();

    /** A job waits for any worker. */
    void offered() {
      fresh = true;
    }

    /** A failed job waits. */
    void offeredAgain() {
      fresh = true;
      failed = true;
      tried.clear();
    }

    /** Whether a job may wait for any worker at all. */
    boolean isOpen() {
      return fresh || failed;
    }

    /** Whether a job may wait for this worker. */
    boolean wants(WorkerId worker) {
      return fresh || (failed && !tried.contains(worker));
    }

    /**
     * These workers found no job.
     *
     * @param failedLeft whether failed jobs wait
     */
    void exhausted(Iterable<WorkerId> workers, boolean failedLeft) {
      fresh = false;
      failed = failedLeft;
      if (failedLeft) {
        workers.forEach(tried::add);
      } else {
        tried.clear();
      }
    }
  }
}

package io.millrace.jobs.dispatch;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.Report;
import io.millrace.jobs.Settled;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.Crew;
import io.millrace.jobs.worker.Seat;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Gives waiting jobs to ready workers and settles how attempts end. It meets jobs and workers only
 * through the registry and the manager's interface. {@link #step} is for one thread; all else may
 * be called by any.
 */
public final class JobDispatcher {
  /** How many jobs are assigned in one go. */
  private static final int MOST = 64;

  /** When a report that could not be stored is tried again; then after twice as long each time. */
  private static final long FIRST_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

  private static final long LONGEST_PAUSE_NANOS = Duration.ofMinutes(1).toNanos();

  /** How many reports are settled in one go. */
  private static final int MOST_REPORTS = 256;

  private final JobRegistry registry;
  private final Crew crew;
  private final long renewNanos;
  private final Map<String, Demand> demands = new HashMap<>();
  private final Queue<JobChange> changes = new ConcurrentLinkedQueue<>();
  private final Deque<Report> reports = new ArrayDeque<>();

  /** Reports that could not be stored, by when they are due again. */
  private final PriorityQueue<Postponed> postponed =
      new PriorityQueue<>((one, other) -> Long.signum(one.dueNanos() - other.dueNanos()));

  private volatile Runnable wake = () -> {};
  private volatile boolean missed;
  private long renewAtNanos;
  private boolean begun;

  /**
   * A report that could not be stored.
   *
   * @param dueNanos when it is tried again
   * @param pauseNanos how long it was put off
   */
  private record Postponed(Report report, long dueNanos, long pauseNanos) {}

  /**
   * A dispatcher that has done nothing yet.
   *
   * @param lease how long claims last that are not renewed; they are at a third of it
   */
  public JobDispatcher(JobRegistry registry, Crew crew, Duration lease) {
    this.registry = registry;
    this.crew = crew;
    this.renewNanos = lease.toNanos() / 3;
  }

  /** Sets what is called, by any thread and quickly, when a step is due before its time. */
  public void wakeBy(Runnable call) {
    wake = call;
    crew.wakeBy(call);
  }

  /** Tells it that a job has changed. */
  public void notice(JobChange change) {
    changes.add(change);
    wake.run();
  }

  /** Tells it that it may have missed changes of jobs. */
  public void mayHaveMissed() {
    missed = true;
    wake.run();
  }

  /**
   * Does what is due.
   *
   * @param nowNanos a clock that never goes back
   * @return the nanoseconds after which it wants to be called again, 0 for at once, even if nothing
   *     wakes it
   */
  public long step(long nowNanos) {
    boolean more;
    long wait;
    try {
      readChanges();
      renew(nowNanos);
      more = settle(nowNanos);
      more |= assign();
    } finally {
      // Workers are looked after whatever the store says.
      wait = crew.step(nowNanos);
    }
    if (!postponed.isEmpty()) {
      wait = Math.min(wait, postponed.peek().dueNanos() - nowNanos);
    }
    return more ? 0 : Math.max(0, Math.min(wait, renewAtNanos - nowNanos));
  }

  private void readChanges() {
    if (missed) {
      missed = false;
      demands.values().forEach(Demand::offeredAgain);
    }
    for (JobChange change = changes.poll(); change != null; change = changes.poll()) {
      crew.changed(change);
      change
          .job()
          .filter(job -> job.status() == JobStatus.PENDING)
          .ifPresent(job -> {
            if (job.failures() == 0) {
              demand(job.type()).offered();
            } else {
              demand(job.type()).offeredAgain();
            }
          });
    }
  }

  private Demand demand(String type) {
    return demands.computeIfAbsent(type, _ -> new Demand());
  }

  /** Gives whether more reports wait. Those that could not be settled are kept. */
  private boolean settle(long nowNanos) {
    reports.addAll(crew.takeReports());
    if (!reports.isEmpty()) {
      List<Report> now = reports.stream().limit(MOST_REPORTS).toList();
      List<Settled> outcomes = registry.settle(now);
      for (int i = 0; i < now.size(); i++) {
        reports.removeFirst();
        settled(now.get(i), outcomes.get(i), FIRST_PAUSE_NANOS, nowNanos);
      }
    }
    while (!postponed.isEmpty() && nowNanos - postponed.peek().dueNanos() >= 0) {
      Postponed due = postponed.peek();
      Settled outcome = registry.settle(List.of(due.report())).getFirst();
      postponed.remove();
      long pause = Math.min(LONGEST_PAUSE_NANOS, 2 * due.pauseNanos());
      settled(due.report(), outcome, pause, nowNanos);
    }
    return !reports.isEmpty();
  }

  private void settled(Report report, Settled outcome, long pauseNanos, long nowNanos) {
    if (outcome instanceof Settled.Postponed) {
      postponed.add(new Postponed(report, nowNanos + pauseNanos, pauseNanos));
    } else {
      crew.settled(report, outcome);
    }
  }

  /** What goes wrong with one type keeps no other from its jobs. */
  private boolean assign() {
    boolean more = false;
    @Nullable JobsException failure = null;
    for (String type : crew.readyTypes()) {
      try {
        more |= assign(type, demand(type));
      } catch (JobsException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
    return more;
  }

  private boolean assign(String type, Demand demand) {
    if (!demand.isOpen() && !crew.isAsked(type)) {
      return false;
    }
    List<Seat> seats = crew.reserve(type, MOST, demand::wants);
    if (seats.isEmpty()) {
      return false;
    }
    List<Seat> left = new ArrayList<>(seats);
    try {
      List<WorkerId> workers = seats.stream().map(Seat::worker).toList();
      for (Assignment assignment : registry.assign(type, workers)) {
        crew.give(take(left, assignment.worker()), assignment);
      }
    } finally {
      crew.leave(left);
    }
    if (left.isEmpty()) {
      return true;
    }
    demand.exhausted(left.stream().map(Seat::worker).toList(), registry.hasFailed(type));
    return false;
  }

  private static Seat take(List<Seat> seats, WorkerId worker) {
    for (Seat seat : seats) {
      if (seat.worker().equals(worker)) {
        seats.remove(seat);
        return seat;
      }
    }
    throw new IllegalStateException("a job was assigned to a worker that was not named: " + worker);
  }

  private void renew(long nowNanos) {
    if (!begun) {
      begun = true;
      renewAtNanos = nowNanos + renewNanos;
    }
    if (nowNanos - renewAtNanos >= 0) {
      List<Assignment> inHand = crew.inHand();
      if (!inHand.isEmpty()) {
        crew.lost(registry.renew(inHand));
      }
      // No change tells of a claim that ran out before it was on record.
      demands.values().forEach(Demand::offeredAgain);
      renewAtNanos = nowNanos + renewNanos;
    }
  }
}

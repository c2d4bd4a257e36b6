package io.millrace.jobs.simulation;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Failure.Wish;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerPool;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The workers of a server: each takes jobs, works for a while and ends them in some way. */
final class SimulatedWorkers implements WorkerPool {
  private static final int WORKERS_OF_A_TYPE = 3;

  private final SplittableRandom random;
  private final Consumer<Report> reported;
  private final List<Worker> workers = new ArrayList<>();
  private final List<Report> reports = new ArrayList<>();
  private Instant now = Instant.EPOCH;

  /** A worker: what it works on, and when each of these jobs ends. */
  private static final class Worker {
    final WorkerId id;
    final String type;
    final int jobs;
    final Map<Assignment, Instant> active = new LinkedHashMap<>();
    int reserved;

    Worker(WorkerId id, String type, int jobs) {
      this.id = id;
      this.type = type;
      this.jobs = jobs;
    }

    int free() {
      return jobs - reserved - active.size();
    }
  }

  private record OneSlot(Worker of) implements Slot {
    @Override
    public WorkerId worker() {
      return of.id;
    }
  }

  /**
   * Ready workers of some types.
   *
   * @param reported hears of each report before the dispatcher does
   */
  SimulatedWorkers(Collection<String> types, SplittableRandom random, Consumer<Report> reported) {
    this.random = random;
    this.reported = reported;
    for (String type : types) {
      for (int i = 0; i < WORKERS_OF_A_TYPE; i++) {
        workers.add(new Worker(new WorkerId(type + "-" + i), type, i + 1));
      }
    }
  }

  /** The workers of a type that could take another job. */
  Set<String> free(String type) {
    Set<String> free = new HashSet<>();
    for (Worker worker : workers) {
      if (worker.type.equals(type) && worker.free() > 0) {
        free.add(worker.id.text());
      }
    }
    return free;
  }

  @Override
  public void wakeBy(Runnable call) {}

  @Override
  public List<Report> takeReports() {
    List<Report> taken = List.copyOf(reports);
    reports.clear();
    return taken;
  }

  @Override
  public void settled(Report report, Settled outcome) {}

  @Override
  public Set<String> readyTypes() {
    Set<String> types = new HashSet<>();
    workers.stream().filter(each -> each.free() > 0).forEach(each -> types.add(each.type));
    return types;
  }

  @Override
  public boolean needsAnswer(String type) {
    return false;
  }

  @Override
  public List<Slot> reserve(String type, int most, Predicate<WorkerId> wanted) {
    List<Slot> slots = new ArrayList<>();
    for (Worker worker : workers) {
      while (worker.type.equals(type)
          && worker.free() > 0
          && slots.size() < most
          && wanted.test(worker.id)) {
        worker.reserved++;
        slots.add(new OneSlot(worker));
      }
    }
    return slots;
  }

  @Override
  public void assign(Slot slot, Assignment assignment) {
    Worker worker = ((OneSlot) slot).of();
    worker.reserved--;
    long millis = random.nextInt(8) == 0 ? random.nextLong(40_000) : random.nextLong(1, 2_500);
    worker.active.put(assignment, now.plusMillis(millis));
  }

  @Override
  public void release(Collection<Slot> slots) {
    slots.forEach(slot -> ((OneSlot) slot).of().reserved--);
  }

  @Override
  public List<Assignment> activeAssignments() {
    return workers.stream().flatMap(each -> each.active.keySet().stream()).toList();
  }

  @Override
  public void revoke(Collection<Assignment> assignments) {
    workers.forEach(each -> each.active.keySet().removeAll(assignments));
  }

  /** Tells a worker mostly, but not always, that its job was taken from it. */
  @Override
  public void changed(JobChange change) {
    for (Worker worker : workers) {
      worker
          .active
          .keySet()
          .removeIf(mine -> mine.job().id().equals(change.id()) && isOver(mine, change));
    }
  }

  private boolean isOver(Assignment mine, JobChange change) {
    Job present = change.present();
    return random.nextInt(3) > 0
        && (present == null
            || (present.place().version() > mine.job().place().version()
                && !mine.claim().equals(present.hand().claim())));
  }

  @Override
  public Instant step(Instant time) {
    now = time;
    Instant next = Instant.MAX;
    for (Worker worker : workers) {
      List<Assignment> ended = new ArrayList<>();
      for (Map.Entry<Assignment, Instant> each : worker.active.entrySet()) {
        if (!each.getValue().isAfter(time)) {
          ended.add(each.getKey());
        } else if (each.getValue().isBefore(next)) {
          next = each.getValue();
        }
      }
      for (Assignment assignment : ended) {
        worker.active.remove(assignment);
        Report report = report(assignment);
        reported.accept(report);
        reports.add(report);
        next = time;
      }
    }
    return next;
  }

  private Report report(Assignment assignment) {
    return switch (random.nextInt(12)) {
      case 0 -> new Report.Returned(assignment, null);
      case 1 -> new Report.Returned(assignment, "its connection broke");
      case 2, 3 -> failed(assignment, Wish.NONE);
      case 4 -> failed(assignment, new Wish("fatal", null, false));
      case 5 -> failed(assignment, new Wish("odd", Duration.ofSeconds(random.nextInt(9)), false));
      case 6, 7 -> failed(assignment, new Wish(null, Duration.ofSeconds(random.nextInt(4)), true));
      default ->
          new Report.Completed(
              assignment, new Value.Inline("result".getBytes(StandardCharsets.UTF_8)));
    };
  }

  private Report failed(Assignment assignment, Wish wish) {
    return new Report.Failed(
        assignment, new Failure(assignment.worker(), now.toEpochMilli(), "no", null, wish));
  }
}

package io.millrace.jobs.worker;

import io.millrace.jobs.Job;
import io.millrace.jobs.Job.FollowOn;
import io.millrace.jobs.JobId;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerView.State;
import io.millrace.work.Explanation;
import io.millrace.work.Explanation.Reason;
import io.millrace.work.Explanation.Related;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Finds out why a job has not been given to a worker yet. */
public final class JobExplainer {
  private static final String WORKER = "worker";

  private JobExplainer() {}

  /**
   * Why a job waits.
   *
   * @param workers the listed workers of all types
   * @param nowMillis the time in milliseconds since the epoch
   * @param limits gives the limits that keep it waiting; asked only if it could start otherwise
   */
  public static Explanation explain(
      Job job, List<WorkerView> workers, long nowMillis, Supplier<List<Reason>> limits) {
    List<Reason> reasons = new ArrayList<>();
    boolean waiting = false;
    switch (job.status()) {
      case RUNNING -> reasons.add(running(job));
      case DONE -> reasons.add(Reason.of("ended", "it is done" + followOn(job)));
      case FAILED ->
          reasons.add(
              Reason.of(
                  "ended",
                  "it has failed, after %d failed attempts; retry offers it again"
                      .formatted(job.failures())));
      case PENDING -> {
        waiting = true;
        pending(job, workers, nowMillis, limits, reasons);
      }
    }
    return new Explanation("job", job.key(), job.status().word(), waiting, reasons);
  }

  private static Reason running(Job job) {
    WorkerId worker = job.hand().worker();
    return worker == null
        ? Reason.of("running", "it runs")
        : new Reason(
            "running",
            "worker " + worker.text() + " works on it",
            Related.of(WORKER, List.of(worker.text())));
  }

  private static String followOn(Job job) {
    FollowOn next = job.line().followOn();
    if (next == null) {
      return "";
    }
    return "; a job of type "
        + next.type()
        + " is still to be made of its result"
        + (next.problem() == null ? "" : ": " + next.problem());
  }

  private static void pending(
      Job job,
      List<WorkerView> workers,
      long nowMillis,
      Supplier<List<Reason>> limits,
      List<Reason> reasons) {
    String type = job.type().isEmpty() ? "" : " for jobs of type " + job.type();
    List<WorkerView> connected =
        workers.stream()
            .filter(worker -> worker.type().equals(job.type()))
            .filter(worker -> worker.state() != State.DISCONNECTED)
            .toList();
    WorkerId last = job.failures() > 0 ? job.hand().worker() : null;
    List<WorkerView> willing =
        connected.stream().filter(worker -> !worker.id().equals(last)).toList();
    if (connected.isEmpty()) {
      reasons.add(Reason.of("no_worker", "no worker" + type + " is connected"));
    } else if (willing.isEmpty() && last != null) {
      reasons.add(
          new Reason(
              "only_failed_worker",
              "the only connected worker%s is %s, on which its last attempt failed; another worker"
                      .formatted(type, last.text())
                  + " has to take it",
              Related.of(WORKER, List.of(last.text()))));
    }
    long due = job.waiting().notBeforeMillis();
    if (due > nowMillis) {
      String again = job.failures() > 0 ? "; its last attempt failed" : "";
      reasons.add(
          Reason.of(
              "scheduled", "it is to start at " + Instant.ofEpochMilli(due) + " or later" + again));
      return;
    }
    reasons.addAll(limits.get());
    if (!willing.isEmpty() && willing.stream().noneMatch(worker -> worker.state() == State.READY)) {
      String but = willing.size() < connected.size() ? " on which it has not failed last" : "";
      List<String> jobs =
          willing.stream().flatMap(each -> each.jobs().stream()).map(JobId::toString).toList();
      reasons.add(
          new Reason(
              "workers_busy",
              "all workers%s%s are busy (%d)".formatted(type, but, willing.size()),
              Related.of("job", jobs)));
    }
    if (reasons.isEmpty()) {
      reasons.add(
          Reason.of(
              "turn",
              "it waits for its turn"
                  + (job.type().isEmpty() ? "" : " among the jobs of type " + job.type())));
    }
  }
}

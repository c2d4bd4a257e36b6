package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.worker.ActiveJobs.ActiveJob;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * The reports of how attempts ended, on their way to the registry; and who is told what became of
 * them. Guarded by the monitor of the {@link WorkerManager}.
 */
final class Reports {
  private final WorkerDirectory directory;
  private final IdentityHashMap<Report, WorkerSession> reporters = new IdentityHashMap<>();
  private List<Report> waiting = new ArrayList<>();
  private JobObserver observer = JobObserver.NONE;

  Reports(WorkerDirectory directory) {
    this.directory = directory;
  }

  void observeBy(JobObserver given) {
    observer = given;
  }

  /** An attempt has begun. */
  void begun(Assignment assignment, long nowMillis) {
    long submitted = assignment.job().times().submitted();
    observer.dispatched(assignment, Math.max(0, nowMillis - submitted));
  }

  /** Queues a report for the registry; the worker hears if it is refused. */
  void add(WorkerSession session, Report report) {
    waiting.add(report);
    reporters.put(report, session);
  }

  /** Queues a report of which the worker is not told. */
  void addUnheard(Report report) {
    waiting.add(report);
  }

  /** Takes the reports that the registry has not had yet, in order. */
  List<Report> take() {
    List<Report> taken = waiting;
    waiting = new ArrayList<>();
    return taken;
  }

  /** The registry has settled a report that was taken. */
  void settled(Report report, Settled outcome) {
    WorkerSession session = reporters.remove(report);
    if (session != null) {
      settled(session, report, outcome);
    }
  }

  /** The registry has settled a report that it was given directly. */
  void settled(WorkerSession session, Report report, Settled outcome) {
    switch (outcome) {
      case Settled.Accepted(Job now) -> {
        directory.count(session, report);
        observer.ended(report, now);
        session.link().settled(report, true);
      }
      case Settled.Refused(String reason) -> {
        if (!(report instanceof Report.Returned)) {
          observer.refused(report.assignment().job().type());
        }
        session.link().settled(report, false);
        tell(session, report.assignment(), reason);
      }
      case Settled.Postponed _ -> throw new IllegalArgumentException("it is not settled yet");
    }
  }

  /** A result or failure of a job was refused that had been taken from its worker. */
  void late(ActiveJob job, String reason) {
    late(job.assignment().job().type());
    tell(job.session(), job.assignment(), reason);
  }

  /** A result or failure of a job of this type was refused. */
  void late(String type) {
    observer.refused(type);
  }

  /** Tells a worker that something was refused. */
  void tell(WorkerSession session, Assignment assignment, String reason) {
    if (!session.closed()) {
      session.link().say(WorkerMessages.refused(assignment, reason));
    }
  }
}

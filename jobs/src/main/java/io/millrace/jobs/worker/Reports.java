package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Report;
import io.millrace.jobs.Settled;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * How attempts have ended: on its way to the registry, and then to those who are to hear what
 * became of it. Guarded by the lock of the floor.
 */
final class Reports {
  private final Roster roster;
  private final IdentityHashMap<Report, Post> reporters = new IdentityHashMap<>();
  private List<Report> waiting = new ArrayList<>();
  private JobObserver observer = JobObserver.NONE;

  Reports(Roster roster) {
    this.roster = roster;
  }

  void observeBy(JobObserver hears) {
    observer = hears;
  }

  /** An attempt has begun. */
  void begun(Assignment assignment, long nowMillis) {
    long submitted = assignment.job().times().submitted();
    observer.dispatched(assignment, Math.max(0, nowMillis - submitted));
  }

  /** An attempt has ended so, which the registry is to hear. */
  void add(Post post, Report report) {
    waiting.add(report);
    reporters.put(report, post);
  }

  /** The same of one whose worker is not to hear of it. */
  void addUnheard(Report report) {
    waiting.add(report);
  }

  /** What the registry has not heard yet, in order. */
  List<Report> take() {
    List<Report> taken = waiting;
    waiting = new ArrayList<>();
    return taken;
  }

  /** The registry has decided about one that was taken. */
  void settled(Report report, Settled outcome) {
    Post post = reporters.remove(report);
    if (post != null) {
      settled(post, report, outcome);
    }
  }

  /** The registry has decided about one that it was told directly. */
  void settled(Post post, Report report, Settled outcome) {
    switch (outcome) {
      case Settled.Accepted _ -> {
        roster.count(post, report);
        observer.ended(report);
      }
      case Settled.Refused(String reason) -> {
        if (!(report instanceof Report.Returned)) {
          observer.refused(report.assignment().job().type());
        }
        tell(post, report.assignment(), reason);
      }
      case Settled.Postponed _ -> throw new IllegalArgumentException("it is not settled yet");
    }
  }

  /** A result or failure has come of a job that was taken from its worker. */
  void late(Held held, String reason) {
    late(held.assignment().job().type());
    tell(held.post(), held.assignment(), reason);
  }

  /** The same of one of which nothing is known but the type of its job. */
  void late(String type) {
    observer.refused(type);
  }

  /** Tells a worker that something was refused. */
  void tell(Post post, Assignment assignment, String reason) {
    if (!post.closed()) {
      post.link().say(ServerMessages.refused(assignment, reason));
    }
  }
}

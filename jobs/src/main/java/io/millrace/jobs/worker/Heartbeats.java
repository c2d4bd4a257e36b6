package io.millrace.jobs.worker;

import io.millrace.jobs.worker.ActiveJobs.ActiveJob;
import io.millrace.jobs.worker.WorkerManager.WorkerOptions;
import java.time.Duration;

/**
 * Watches connections over time: closes those that do not register or have gone silent, pings the
 * others, and takes back the jobs of stuck workers. Guarded by the monitor of the {@link
 * WorkerManager}.
 */
final class Heartbeats {
  /** How long a worker may take to answer, and how often a busy one is asked for its status. */
  private static final long ANSWER_NANOS = Duration.ofSeconds(10).toNanos();

  private static final int SILENT_KEEPALIVES = 3;

  /** With thousands of workers something is always due: this is the least pause for each. */
  private static final long PAUSE_NANOS = 20_000;

  private final WorkerManager workers;
  private final WorkerOptions options;
  private final long stuckNanos;
  private final long keepaliveNanos;
  private final long answerNanos;
  private long nextNanos = Long.MIN_VALUE;

  Heartbeats(WorkerManager workers, WorkerOptions options) {
    this.workers = workers;
    this.options = options;
    this.stuckNanos = options.stuckAfter().toNanos();
    this.keepaliveNanos = options.keepalive().toNanos();
    this.answerNanos = Math.min(ANSWER_NANOS, stuckNanos);
  }

  /** Has connections checked at that time; gives whether that is earlier than planned before. */
  boolean checkBy(long dueNanos) {
    if (nextNanos == Long.MIN_VALUE || dueNanos - nextNanos < 0) {
      nextNanos = dueNanos;
      return true;
    }
    return false;
  }

  /** Does what is due; gives in how many nanoseconds it wants to be called again. */
  long step(WorkerDirectory directory, long now) {
    if (nextNanos != Long.MIN_VALUE && now - nextNanos >= 0) {
      long next = now + keepaliveNanos;
      for (WorkerSession session : directory.sessions()) {
        long due = check(session, now);
        if (due != Long.MAX_VALUE && due - next < 0) {
          next = due;
        }
      }
      long earliest = now + PAUSE_NANOS * directory.size();
      nextNanos = directory.isEmpty() ? Long.MIN_VALUE : next - earliest < 0 ? earliest : next;
    }
    return nextNanos == Long.MIN_VALUE ? keepaliveNanos : nextNanos - now;
  }

  /** Does what is due for a connection; gives when to check again, the largest number for never. */
  private long check(WorkerSession session, long now) {
    if (session.registration() == null) {
      return checkUnregistered(session, now);
    }
    long next = Long.MAX_VALUE;
    for (ActiveJob job : session.jobs().values().toArray(ActiveJob[]::new)) {
      if (job.counts()) {
        next = Math.min(next, checkJob(session, job, now));
      }
    }
    return session.polled() ? next : Math.min(next, checkConnection(session, now));
  }

  private long checkUnregistered(WorkerSession session, long now) {
    long due = session.openedNanos() + options.registration().toNanos();
    if (now - due < 0) {
      return due;
    }
    String reason =
        session.rejected()
            ? "the token is wrong"
            : "no registration came within " + options.registration().toMillis() + " ms";
    workers.end(session, WorkerLink.NOT_ALLOWED, reason);
    return Long.MAX_VALUE;
  }

  private long checkJob(WorkerSession session, ActiveJob job, long now) {
    long stuck = job.signNanos() + stuckNanos;
    if (now - stuck < 0) {
      return stuck;
    }
    if (!session.polled()) {
      if (!job.asked()) {
        job.ask(now);
        session.askStatus(now);
      }
      long late = job.askedNanos() + answerNanos;
      if (now - late < 0) {
        return late;
      }
    }
    Duration silent = Duration.ofNanos(now - job.signNanos());
    workers.takeBack(
        job, "its worker gave no sign of working on it for " + silent.toSeconds() + " s");
    return Long.MAX_VALUE;
  }

  private long checkConnection(WorkerSession session, long now) {
    // A worker may block while it works. Its job then says whether it is stuck.
    boolean working = !session.assignments().isEmpty();
    long silent = session.heardNanos() + SILENT_KEEPALIVES * keepaliveNanos;
    if (!working && now - silent >= 0) {
      workers.end(session, WorkerLink.NOT_ALLOWED, "there was no sign of life, not even a pong");
      return Long.MAX_VALUE;
    }
    if (now - session.pingedNanos() >= keepaliveNanos) {
      session.ping(now);
    }
    long pinged = session.pingedNanos() + keepaliveNanos;
    long next = working ? pinged : Math.min(silent, pinged);
    if (session.status() == WorkerSession.Status.READY
        && session.jobs().values().stream().allMatch(ActiveJob::counts)) {
      return next;
    }
    // It is not known whether this worker could take a job.
    if (now - session.askedNanos() >= answerNanos && !working) {
      session.askStatus(now);
    }
    return Math.min(next, Math.max(now, session.askedNanos()) + answerNanos);
  }
}

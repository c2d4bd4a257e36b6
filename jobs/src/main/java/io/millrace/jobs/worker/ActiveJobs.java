package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The jobs that workers work on. Guarded by the monitor of the {@link WorkerManager}. */
final class ActiveJobs {
  private final Map<JobId, ActiveJob> all = new HashMap<>();

  /** Those whose workers have reported progress, in the order of their last reports. */
  private final LinkedHashMap<JobId, ActiveJob> progressed = new LinkedHashMap<>();

  private long lastNumber;

  void add(ActiveJob job) {
    all.put(job.id(), job);
    progressed.remove(job.id());
  }

  /** Removes this attempt at a job, but no later one. */
  void remove(ActiveJob job) {
    all.remove(job.id(), job);
    progressed.remove(job.id(), job);
  }

  @Nullable ActiveJob find(JobId job) {
    return all.get(job);
  }

  /**
   * The attempt under this claim; null if no worker has the job, or one has it by another claim.
   */
  @Nullable ActiveJob find(Assignment assignment) {
    ActiveJob job = all.get(assignment.job().id());
    return job != null && job.assignment().claim().equals(assignment.claim()) ? job : null;
  }

  /** A worker has reported progress. */
  void progressed(ActiveJob job) {
    if (all.get(job.id()) == job) {
      lastNumber++;
      job.progressNumber = lastNumber;
      progressed.putLast(job.id(), job);
    }
  }

  /** The progress reported after that number, the last report for each job. */
  Progress.Updates progressSince(long number) {
    List<Progress.Update> news = new ArrayList<>();
    for (ActiveJob job : progressed.sequencedValues().reversed()) {
      Progress progress = job.progress;
      if (job.progressNumber <= number || progress == null) {
        break;
      }
      news.add(new Progress.Update(job.assignment().job(), progress));
    }
    return new Progress.Updates(lastNumber, news.reversed());
  }

  Optional<Progress> progress(JobId job) {
    return Optional.ofNullable(all.get(job)).map(each -> each.progress);
  }

  /** The assignments whose workers' reports count. */
  List<Assignment> assignments() {
    return all.values().stream().filter(ActiveJob::counts).map(ActiveJob::assignment).toList();
  }

  /** One attempt of a worker at a job. Guarded by the monitor of the {@link WorkerManager}. */
  static final class ActiveJob {
    private final WorkerSession session;
    private final Assignment assignment;
    private long signNanos;
    private long askedNanos;
    private boolean asked;
    private boolean sent;
    private boolean revoked;
    private boolean finished;
    private @Nullable Progress progress;
    private long progressNumber;

    ActiveJob(WorkerSession session, Assignment assignment, long nowNanos) {
      this.session = session;
      this.assignment = assignment;
      this.signNanos = nowNanos;
    }

    WorkerSession session() {
      return session;
    }

    Assignment assignment() {
      return assignment;
    }

    JobId id() {
      return assignment.job().id();
    }

    /** Its payload is on the way: from now on the job may be the reason if the worker goes. */
    void sent() {
      sent = true;
    }

    boolean wasSent() {
      return sent;
    }

    /** The worker has shown that it works on the job. */
    void sign(long nowNanos) {
      signNanos = nowNanos;
      asked = false;
    }

    void progress(Progress now, long nowNanos) {
      progress = now;
      sign(nowNanos);
    }

    /** When the worker last showed that it works on the job. */
    long signNanos() {
      return signNanos;
    }

    /** The worker was asked about the job. */
    void ask(long nowNanos) {
      asked = true;
      askedNanos = nowNanos;
    }

    /** Whether the worker was asked about the job since its last sign. */
    boolean asked() {
      return asked;
    }

    long askedNanos() {
      return askedNanos;
    }

    /** The job was taken from the worker, which does not know it yet. */
    void revoke() {
      revoked = true;
    }

    boolean revoked() {
      return revoked;
    }

    /** The worker has ended the attempt: its report is on the way to the registry. */
    void finish() {
      finished = true;
    }

    /** The report could not be stored: the worker may repeat it. */
    void reopen() {
      finished = false;
    }

    /** Whether the worker's reports on the job still count. */
    boolean counts() {
      return !revoked && !finished;
    }
  }
}

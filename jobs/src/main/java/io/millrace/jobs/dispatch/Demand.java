package io.millrace.jobs.dispatch;

import io.millrace.jobs.WorkerId;
import java.util.HashSet;
import java.util.Set;

/**
 * What is known of the waiting jobs of one type: whether there may be any that every worker can
 * have, or any that have failed, which not every worker can have. For use by one thread.
 */
final class Demand {
  private boolean fresh = true;
  private boolean failed = true;
  private final Set<WorkerId> tried = new HashSet<>();

  /** A job waits that any worker can have. */
  void offered() {
    fresh = true;
  }

  /** A job waits that has failed. */
  void offeredAgain() {
    fresh = true;
    failed = true;
    tried.clear();
  }

  /** Whether it may be worth looking for a job for any worker. */
  boolean isOpen() {
    return fresh || failed;
  }

  /** Whether it is worth looking for a job for this worker. */
  boolean wants(WorkerId worker) {
    return fresh || (failed && !tried.contains(worker));
  }

  /**
   * These workers found no job.
   *
   * @param failedLeft whether jobs wait that have failed
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

package io.millrace.queues.runner;

import io.millrace.queues.Status;
import org.jspecify.annotations.Nullable;

/** The work of one task, under way. Safe for use by any number of threads. */
interface Work {
  /**
   * How it ended.
   *
   * @param status the status of the task, positive
   * @param reason why, if the status alone does not say it; null if it does
   * @param complaint what to add to standard error; null for nothing
   */
  record Result(int status, @Nullable String reason, @Nullable String complaint) {
    static Result failed(String complaint) {
      return new Result(Status.FAILED, null, complaint);
    }
  }

  /** Waits until nothing of it is left, but for what {@link #leavesThreads} tells. */
  Result await() throws InterruptedException;

  /**
   * Whether threads of it may still run in this process, so that the process is not fit for another
   * task. For after {@link #await}.
   */
  default boolean leavesThreads() {
    return false;
  }

  /** Asks it to end. */
  void terminate();

  /** Ends it, whatever it does. */
  void kill();
}

package io.millrace.queues.runner;

import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Status;
import org.jspecify.annotations.Nullable;

/** The work of one task. Safe for use by any number of threads. */
interface Work {
  /**
   * The result of the work.
   *
   * @param status the status of the task, positive
   * @param reason the reason, if the status needs one; otherwise null
   * @param complaint what to add to standard error; null for nothing
   * @param wish what it says about being tried again
   */
  record Result(int status, @Nullable String reason, @Nullable String complaint, RetryWish wish) {
    /** The result of work that says nothing about being tried again. */
    Result(int status, @Nullable String reason, @Nullable String complaint) {
      this(status, reason, complaint, RetryWish.NONE);
    }

    static Result failed(String complaint) {
      return new Result(Status.FAILED, null, complaint);
    }
  }

  /** Waits until nothing of it is left, except for threads of {@link #leavesThreads}. */
  Result await() throws InterruptedException;

  /**
   * Whether threads of it may still run in this process, so that the process cannot run another
   * task. To be called after {@link #await}.
   */
  default boolean leavesThreads() {
    return false;
  }

  /** Asks it to end. */
  void terminate();

  /** Kills it. */
  void kill();
}

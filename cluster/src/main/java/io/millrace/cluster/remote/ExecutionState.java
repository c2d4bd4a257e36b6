package io.millrace.cluster.remote;

/** The state of a submitted lambda. */
public enum ExecutionState {
  /** Submitted, and not known to have started. */
  SUBMITTED,
  /** Running on the member. */
  RUNNING,
  /** Returned. */
  DONE,
  /** Threw an exception, or its result could not be sent. */
  FAILED,
  /**
   * Did not start or end in time, or its member is gone or marked as dead. The lambda may have run.
   */
  TIMED_OUT,
  /** Cancelled before it was done; its thread is interrupted. */
  CANCELLED,
  /** The leader that submitted it no longer leads, so the outcome is unknown. */
  ABANDONED;

  /** Whether this is a final state. */
  public boolean isEnd() {
    return this != SUBMITTED && this != RUNNING;
  }
}

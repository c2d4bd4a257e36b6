package io.millrace.cluster.remote;

/** How far a submitted lambda is. */
public enum ExecutionState {
  /** Not known to be begun. */
  SUBMITTED,
  /** A member runs it. */
  RUNNING,
  /** It returned. */
  DONE,
  /** It threw, or what it returned cannot be sent. */
  FAILED,
  /**
   * Nothing is heard of it any more, or not in time: its member is gone or marked as dead. It may
   * still have run.
   */
  TIMED_OUT,
  /** Cancelled before it was done. Its thread is interrupted. */
  CANCELLED,
  /** The leader that submitted it does not lead any more, and will not know. */
  ABANDONED;

  /** Whether this is the end. */
  public boolean isEnd() {
    return this != SUBMITTED && this != RUNNING;
  }
}

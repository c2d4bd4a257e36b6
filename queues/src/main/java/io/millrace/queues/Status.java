package io.millrace.queues;

/**
 * The status codes of a queue task. Any other negative code holds a task back until it is queued
 * again; any positive code means that it has finished.
 */
public final class Status {
  /** Its work was disrupted, and it is not repeated. */
  public static final int ORPHANED = -6;

  /** An operator cancelled it before it ran. */
  public static final int CANCELLED = -5;

  /** An operator holds it back. */
  public static final int BLOCKED = -4;

  /** An operator terminated it. */
  public static final int TERMINATED = -3;

  /** It is waiting for a node. */
  public static final int QUEUED = -2;

  /** A node has claimed it and a runner is about to start it. */
  public static final int CLAIMED = -1;

  /** A runner is working on it. */
  public static final int RUNNING = 0;

  /** It succeeded. */
  public static final int SUCCEEDED = 1;

  /** It failed, or a part of it did. */
  public static final int FAILED = 2;

  private Status() {}

  /** Whether a task with this code has finished. */
  public static boolean isFinished(int status) {
    return status > RUNNING;
  }

  /** Whether a task with this code is claimed or running. */
  public static boolean isActive(int status) {
    return status == CLAIMED || status == RUNNING;
  }

  /** Whether a task with this code is held back until it is queued again. */
  public static boolean isHeld(int status) {
    return status < CLAIMED && status != QUEUED;
  }

  /** The name of the code: {@code queued}; {@code held (-7)} or {@code finished (3)} for others. */
  public static String name(int status) {
    return switch (status) {
      case ORPHANED -> "orphaned";
      case CANCELLED -> "cancelled";
      case BLOCKED -> "blocked";
      case TERMINATED -> "terminated";
      case QUEUED -> "queued";
      case CLAIMED -> "claimed";
      case RUNNING -> "running";
      case SUCCEEDED -> "succeeded";
      case FAILED -> "failed";
      default -> (status > 0 ? "finished (" : "held (") + status + ")";
    };
  }
}

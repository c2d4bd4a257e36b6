package io.millrace.queues;

/** The status codes of queue tasks by what they mean for the kernel task. */
public enum TaskKind {
  /** {@link Status#QUEUED}. */
  QUEUED,
  /** {@link Status#CLAIMED} and {@link Status#RUNNING}. */
  ACTIVE,
  /** Every other negative one. */
  HELD,
  /** Every positive one. */
  FINISHED;

  /** The kind that a status code belongs to. */
  public static TaskKind of(int status) {
    if (status == Status.QUEUED) {
      return QUEUED;
    }
    if (Status.isActive(status)) {
      return ACTIVE;
    }
    return Status.isHeld(status) ? HELD : FINISHED;
  }
}

package io.millrace.queues;

import io.millrace.queues.QueuesException.InvalidRequestException;

/** What an operator does to a queue task. Immutable. */
public sealed interface TaskAction {
  /** Whether it makes sense for a task as it is. */
  boolean appliesTo(QueueTask task);

  /** Whether a task was cancelled, terminated or orphaned, so that nothing happens to it. */
  private static boolean isOut(int status) {
    return status == Status.CANCELLED || status == Status.TERMINATED || status == Status.ORPHANED;
  }

  /**
   * Holds back a task.
   *
   * @param status the status that holds it: -3 or less, {@link Status#CANCELLED} to cancel it
   * @param reason why, in at most 1,000 characters; empty for no reason
   */
  record Hold(int status, String reason) implements TaskAction {
    /** The longest reason of an operator, in characters. */
    private static final int MAX_REASON_CHARS = 1_000;

    /** Checks both. */
    public Hold {
      if (!Status.isHeld(status)) {
        throw new InvalidRequestException("status", "a task is held by -3 or less, not " + status);
      }
      if (reason.length() > MAX_REASON_CHARS) {
        throw new InvalidRequestException(
            "reason", "a reason has at most " + MAX_REASON_CHARS + " characters");
      }
    }

    /** A queued task, and for {@link Status#CANCELLED} also one that is held for now. */
    @Override
    public boolean appliesTo(QueueTask task) {
      return task.status() == Status.QUEUED
          || (status == Status.CANCELLED && Status.isHeld(task.status()) && !isOut(task.status()));
    }
  }

  /**
   * Queues a task again, and deletes its output.
   *
   * @param failedOnly whether it is for tasks only that have failed or were orphaned
   */
  record Requeue(boolean failedOnly) implements TaskAction {
    @Override
    public boolean appliesTo(QueueTask task) {
      int status = task.status();
      return failedOnly
          ? status > Status.SUCCEEDED || status == Status.ORPHANED
          : Status.isHeld(status) || Status.isFinished(status);
    }
  }

  /** Ends a task: its runner kills its processes, or it is held back if none is. */
  record Terminate() implements TaskAction {
    @Override
    public boolean appliesTo(QueueTask task) {
      return !Status.isFinished(task.status()) && !isOut(task.status());
    }
  }

  /** Deletes a task that is not claimed, with its output. */
  record Delete() implements TaskAction {
    @Override
    public boolean appliesTo(QueueTask task) {
      return !Status.isActive(task.status());
    }
  }

  /**
   * Moves a task that is queued or held to another queue, where its time of creation decides its
   * place.
   *
   * @param queue the other queue
   */
  record Move(ObjectId queue) implements TaskAction {
    @Override
    public boolean appliesTo(QueueTask task) {
      return (task.status() == Status.QUEUED || Status.isHeld(task.status()))
          && !task.queue().equals(queue);
    }
  }
}

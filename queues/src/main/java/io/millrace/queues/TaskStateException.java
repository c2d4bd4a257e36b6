package io.millrace.queues;

/** What was asked of a queue task is not possible with the status that it has. */
public final class TaskStateException extends QueuesException {
  private static final long serialVersionUID = 1;

  TaskStateException(String message) {
    super(message);
  }
}

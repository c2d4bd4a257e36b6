package io.millrace.queues;

/** Something that queues cannot do, said so that a person can act on it. */
public class QueuesException extends RuntimeException {
  private static final long serialVersionUID = 1;

  QueuesException(String message) {
    super(message);
  }

  QueuesException(String message, Throwable cause) {
    super(message, cause);
  }
}

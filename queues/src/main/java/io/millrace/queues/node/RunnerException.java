package io.millrace.queues.node;

/** A runner cannot be started. The message says why. */
public final class RunnerException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With what is wrong. */
  public RunnerException(String message, Throwable cause) {
    super(message, cause);
  }
}

package io.millrace.jobs;

/** A failure of the job server. The message says what is wrong. */
public class JobsException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With a message for people. */
  public JobsException(String message) {
    super(message);
  }

  /** With a message for people, and what caused it. */
  public JobsException(String message, Throwable cause) {
    super(message, cause);
  }
}

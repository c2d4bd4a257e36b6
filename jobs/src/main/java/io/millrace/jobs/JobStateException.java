package io.millrace.jobs;

/** A job is in a status in which it cannot do what was asked; nothing happened. */
public final class JobStateException extends JobsException {
  private static final long serialVersionUID = 1;

  /** With a message that names the job and its status. */
  public JobStateException(String message) {
    super(message);
  }
}

package io.millrace.jobs;

/** A submission, filter or message that is malformed or not allowed; nothing happened. */
public final class InvalidJobException extends JobsException {
  private static final long serialVersionUID = 1;

  /** With a message that names what is wrong. */
  public InvalidJobException(String message) {
    super(message);
  }
}

package io.millrace.jobs;

/** A transaction or claim exceeds a limit of the store; a smaller one may be taken. */
final class TooLargeException extends JobsException {
  private static final long serialVersionUID = 1;

  TooLargeException(String message) {
    super(message);
  }
}

package io.millrace.client;

/** There is no safe connection to be had, and trying again would not help. */
final class UntrustedException extends NotSentException {
  private static final long serialVersionUID = 1;

  UntrustedException(String message, Throwable cause) {
    super(message, cause);
  }
}

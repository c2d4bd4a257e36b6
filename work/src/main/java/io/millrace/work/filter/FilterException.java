package io.millrace.work.filter;

/** A filter cannot be read; the message says why. */
public final class FilterException extends RuntimeException {
  /** Has a message that a person can act on. */
  public FilterException(String message) {
    super(message);
  }
}

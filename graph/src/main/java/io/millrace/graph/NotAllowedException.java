package io.millrace.graph;

/** A running command asked for more than what is its own. Nothing has changed. */
public final class NotAllowedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With what is not allowed, for people. */
  public NotAllowedException(String message) {
    super(message);
  }
}

package io.millrace.graph;

/** What was asked for makes no sense, as its message says. Nothing has changed. */
public final class InvalidGraphException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With what is wrong, for people. */
  public InvalidGraphException(String message) {
    super(message);
  }
}

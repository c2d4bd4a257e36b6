package io.millrace.graph;

/** The stored graph is damaged, or could not do what it had to. */
public final class GraphException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With a message that a person can act on. */
  public GraphException(String message) {
    super(message);
  }

  /** With a message that a person can act on, and what led to it. */
  public GraphException(String message, Throwable cause) {
    super(message, cause);
  }
}

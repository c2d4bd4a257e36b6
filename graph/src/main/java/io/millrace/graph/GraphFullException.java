package io.millrace.graph;

/** The store has no room for more. Nothing has changed. */
public final class GraphFullException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With what the store says, for people. */
  public GraphFullException(String message) {
    super(message);
  }
}

package io.millrace.graph;

/** A page was asked for of a list that is not kept any more; start over from the first page. */
public final class StaleViewException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With what is gone, for people. */
  public StaleViewException(String message) {
    super(message);
  }
}

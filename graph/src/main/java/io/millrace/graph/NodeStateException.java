package io.millrace.graph;

/** A node's state does not allow what was asked for. Nothing has changed. */
public final class NodeStateException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With what is in the way, for people. */
  public NodeStateException(String message) {
    super(message);
  }
}

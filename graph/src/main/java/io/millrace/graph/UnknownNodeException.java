package io.millrace.graph;

/** There is no such node, now or any more. Nothing has changed. */
public final class UnknownNodeException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Of this id. */
  public UnknownNodeException(NodeId id) {
    super("there is no node " + id);
  }
}

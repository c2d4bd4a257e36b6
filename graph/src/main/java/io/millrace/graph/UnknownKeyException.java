package io.millrace.graph;

/** A node has no data of this key. */
public final class UnknownKeyException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Of this node and key. */
  public UnknownKeyException(NodeId id, String key) {
    super("node " + id + " has no data \"" + key + "\"");
  }
}

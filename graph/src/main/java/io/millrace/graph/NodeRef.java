package io.millrace.graph;

/** How a new node names another. */
public sealed interface NodeRef {
  /** One that is there. */
  record Existing(NodeId id) implements NodeRef {
    @Override
    public String toString() {
      return id.toString();
    }
  }

  /** One that comes in the same request, by its local name. */
  record Local(String name) implements NodeRef {
    @Override
    public String toString() {
      return "local:" + name;
    }
  }
}

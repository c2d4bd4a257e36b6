package io.millrace.graph;

import java.util.Set;

/** Who requests a change. */
public sealed interface Caller {
  /** Anybody with access to the server, who may do everything. */
  record Anyone() implements Caller {}

  /**
   * A command that runs as a node. It may add nodes below itself, change all nodes below it,
   * directly or not, and change the data of itself and of its parents.
   *
   * @param id the node
   * @param attempt the current attempt; once it has ended, nothing more is allowed
   */
  record RunningNode(NodeId id, int attempt) implements Caller {}

  /**
   * A caller that may change these nodes and everything below them, and add nodes below them.
   *
   * @param tops the nodes; those that do not exist count for nothing
   */
  record Subtrees(Set<NodeId> tops) implements Caller {
    public Subtrees {
      tops = Set.copyOf(tops);
    }
  }

  /** Anybody. */
  Caller ANYONE = new Anyone();
}

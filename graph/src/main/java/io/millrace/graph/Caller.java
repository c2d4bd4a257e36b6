package io.millrace.graph;

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

  /** Anybody. */
  Caller ANYONE = new Anyone();
}

package io.millrace.graph;

/** Who requests a change. */
public sealed interface Caller {
  /** Anybody with access to the server: may do everything. */
  record Anyone() implements Caller {}

  /**
   * A command that runs as a node. It may add nodes below itself, change whatever is below it at
   * any distance, and change the data of itself and of its parents.
   *
   * @param id the node
   * @param attempt the attempt under way; when that is over, nothing more is allowed
   */
  record RunningNode(NodeId id, int attempt) implements Caller {}

  /** Anybody. */
  Caller ANYONE = new Anyone();
}

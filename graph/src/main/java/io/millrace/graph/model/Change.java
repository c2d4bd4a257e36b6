package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import org.jspecify.annotations.Nullable;

/** A fact about one node. A graph is stored as such facts only. */
public sealed interface Change {
  /** The node. */
  NodeId id();

  /**
   * A new node. The nodes that it refers to exist, or come in the same changes.
   *
   * @param name a name for people; null for none
   * @param createdMillis when it was added
   */
  record Added(
      NodeId id, Definition definition, Phase phase, @Nullable String name, long createdMillis)
      implements Change {}

  /** It has another place. */
  record Moved(NodeId id, Definition definition) implements Change {}

  /** Something happened to it. */
  record Progressed(NodeId id, Phase phase) implements Change {}

  /** It has another name for people; null for none. */
  record Renamed(NodeId id, @Nullable String name) implements Change {}

  /** Something changed that the graph itself does not hold, for example its data. */
  record Touched(NodeId id) implements Change {}

  /** It was removed; no other node refers to it. */
  record Removed(NodeId id) implements Change {}
}

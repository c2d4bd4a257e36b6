package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import org.jspecify.annotations.Nullable;

/** A fact about one node; all that is kept of a graph are such facts. */
public sealed interface Change {
  /** The node. */
  NodeId id();

  /**
   * A new node; those that it names are there, or come in the same changes.
   *
   * @param name what people call it; null for none
   * @param createdMillis when it was added
   */
  record Added(
      NodeId id, Definition definition, Phase phase, @Nullable String name, long createdMillis)
      implements Change {}

  /** It is somewhere else. */
  record Moved(NodeId id, Definition definition) implements Change {}

  /** Something happened to it. */
  record Progressed(NodeId id, Phase phase) implements Change {}

  /** People call it otherwise; null for no name. */
  record Renamed(NodeId id, @Nullable String name) implements Change {}

  /** Something of it has changed that the graph does not hold, as its data. */
  record Touched(NodeId id) implements Change {}

  /** It is gone; no other node names it. */
  record Removed(NodeId id) implements Change {}
}

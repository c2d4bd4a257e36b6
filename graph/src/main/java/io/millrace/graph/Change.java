package io.millrace.graph;

/** A fact about one node; all that is kept of a graph are such facts. */
public sealed interface Change {
  /** The node. */
  NodeId id();

  /** A new node; those that it names are there, or come in the same changes. */
  record Added(NodeId id, Definition definition, Phase phase) implements Change {}

  /** It is somewhere else. */
  record Moved(NodeId id, Definition definition) implements Change {}

  /** Something happened to it. */
  record Progressed(NodeId id, Phase phase) implements Change {}

  /** It is gone; nobody names it. */
  record Removed(NodeId id) implements Change {}
}

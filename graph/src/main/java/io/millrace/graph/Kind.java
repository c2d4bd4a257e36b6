package io.millrace.graph;

/** What the graph itself must know of a node's type. */
public enum Kind {
  /** Does something. */
  WORK,
  /** Does something and chooses a branch of its children. */
  CONDITION,
  /**
   * Does nothing itself: what is below it starts with it, and it ends when all of that has settled.
   */
  GROUP
}

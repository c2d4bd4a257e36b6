package io.millrace.graph;

/** What becomes of the nodes that name one which is removed. */
public enum Removal {
  /** There may be none: the node goes only where nothing is below it or comes after it. */
  LEAF,

  /**
   * They stay. What the node was below and came after stands in its place, so that everything else
   * keeps its order; below the root there is nothing in its place.
   */
  ALONE,

  /**
   * What is below the node goes with it. What has another parent that stays, and what merely comes
   * after one that goes, stays and names it no more.
   */
  SUBTREE
}

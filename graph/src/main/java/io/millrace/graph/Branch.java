package io.millrace.graph;

/** Which children of a condition run. */
public enum Branch {
  /** Where it holds. */
  THEN,
  /** Where it does not. */
  ELSE
}

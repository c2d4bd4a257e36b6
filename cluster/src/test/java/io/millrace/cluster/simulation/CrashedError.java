package io.millrace.cluster.simulation;

/** Thrown through a member's calls at the moment of its crash. */
final class CrashedError extends Error {
  private static final long serialVersionUID = 1;

  CrashedError() {
    super("the member has crashed", null, false, false);
  }
}

package io.millrace.cluster.simulation;

/** Ends all calls of a member when it crashes. */
final class CrashedError extends Error {
  private static final long serialVersionUID = 1;

  CrashedError() {
    super("the member has crashed", null, false, false);
  }
}

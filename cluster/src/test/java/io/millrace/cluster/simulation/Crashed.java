package io.millrace.cluster.simulation;

/** Thrown through a member's calls at the moment of its crash. */
final class Crashed extends Error {
  private static final long serialVersionUID = 1;

  Crashed() {
    super("the member has crashed", null, false, false);
  }
}

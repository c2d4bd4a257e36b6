package io.millrace.graph;

/**
 * A change of the graph. It looks, and changes only once nothing is in its way; so one that throws
 * has changed nothing. It may be run again, on what the graph is then.
 */
@FunctionalInterface
interface Operation<T> {
  /** Carries it out, and says what came of it. */
  T run(Draft draft);

  /**
   * What came of one that is durable.
   *
   * @param value what it said
   * @param event what it did
   */
  record Done<T>(T value, GraphEvent event) {}
}

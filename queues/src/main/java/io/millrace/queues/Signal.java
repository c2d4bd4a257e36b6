package io.millrace.queues;

/** News for an execution node. */
public sealed interface Signal {
  /**
   * A queue may have something to claim.
   *
   * @param queue which
   */
  record Bell(ObjectId queue) implements Signal {}

  /**
   * Somebody wants the end of a task that is under way.
   *
   * @param task which
   */
  record Stop(ObjectId task) implements Signal {}

  /** A queue or the configuration was changed. */
  record SettingsChanged() implements Signal {}
}

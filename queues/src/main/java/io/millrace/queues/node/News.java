package io.millrace.queues.node;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Signal;

/** What a node was told between two steps. */
sealed interface News {
  /** A signal from the store. */
  record Heard(Signal signal) implements News {}

  /** Signals may have been missed; from now on they are heard. */
  record Subscribed() implements News {}

  /** A runner is done with a task. */
  record Ended(ObjectId task) implements News {}

  /** A runner was lost. */
  record Lost(ObjectId task, String reason) implements News {}

  /** The node is to end. */
  record StopAsked() implements News {}
}

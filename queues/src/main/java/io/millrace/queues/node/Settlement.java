package io.millrace.queues.node;

import io.millrace.queues.Queue;
import io.millrace.queues.Run;

/** What a node owes to the store, and tries until it is done. */
sealed interface Settlement {
  /** Give a run back that no runner has started. */
  record GiveBack(Run run) implements Settlement {}

  /** A runner is gone: give the run back where it was not started, or else end it. */
  record Lost(Run run, String reason) implements Settlement {}

  /** Claim no more tasks of a queue, because this node cannot start runners for it. */
  record Suspend(Queue queue, String reason) implements Settlement {}
}

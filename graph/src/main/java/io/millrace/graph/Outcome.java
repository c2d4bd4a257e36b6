package io.millrace.graph;

import io.millrace.graph.Definition.Branch;
import org.jspecify.annotations.Nullable;

/** How an attempt at a node ended. */
public sealed interface Outcome {

  /**
   * It succeeded.
   *
   * @param taken the branch that a condition chose; null for other types
   */
  record Finished(@Nullable Branch taken) implements Outcome {}

  /**
   * It failed.
   *
   * @param reason why, for people
   */
  record Failed(String reason) implements Outcome {}

  /**
   * It failed, and is to be tried again.
   *
   * @param notBeforeMillis the earliest time of the next attempt, in milliseconds since 1970
   */
  record Again(long notBeforeMillis) implements Outcome {}

  /**
   * It was killed.
   *
   * @param reason the reason, for people
   */
  record Killed(String reason) implements Outcome {}

  /** The phase of the node after it. A node that is being killed does not begin again. */
  default Phase after(Phase.Running running, long nowMillis) {
    return switch (this) {
      case Finished(Branch taken) -> ended(running, NodeState.FINISHED, "", taken, nowMillis);
      case Failed(String reason) -> ended(running, NodeState.FAILED, reason, null, nowMillis);
      case Killed(String reason) -> ended(running, NodeState.KILLED, reason, null, nowMillis);
      case Again _ when running.killing() ->
          ended(running, NodeState.KILLED, "it was killed", null, nowMillis);
      case Again(long notBefore) -> new Phase.Waiting(running.attempt(), notBefore);
    };
  }

  private static Phase ended(
      Phase.Running running,
      NodeState state,
      String reason,
      @Nullable Branch taken,
      long nowMillis) {
    return new Phase.Ended(
        running.attempt(), state, reason, taken, running.startedMillis(), nowMillis);
  }
}

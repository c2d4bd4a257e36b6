package io.millrace.graph;

import io.millrace.graph.Definition.Branch;
import org.jspecify.annotations.Nullable;

/** How an attempt at a node ended. */
public sealed interface Outcome {

  /**
   * It did what it was to do.
   *
   * @param taken the branch that a condition chose; null for others
   */
  record Finished(@Nullable Branch taken) implements Outcome {}

  /**
   * It did not.
   *
   * @param reason why, for people
   */
  record Failed(String reason) implements Outcome {}

  /**
   * It did not, and is to be tried again.
   *
   * @param notBeforeMillis when at the earliest, in milliseconds since 1970
   */
  record Again(long notBeforeMillis) implements Outcome {}

  /**
   * It was ended.
   *
   * @param reason by what, for people
   */
  record Killed(String reason) implements Outcome {}

  /** What a node is after it. One that is being killed does not begin again. */
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

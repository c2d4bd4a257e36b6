package io.millrace.graph;

import io.millrace.graph.Definition.Branch;
import org.jspecify.annotations.Nullable;

/** What has happened to a node itself; times in milliseconds since 1970. */
public sealed interface Phase {
  /** The number of attempts so far, including a current one; from 0. */
  int attempt();

  /**
   * It has not started, or is to start again.
   *
   * @param attempt the number of attempts so far
   * @param notBeforeMillis the earliest time of a start; 0 for at once
   */
  record Waiting(int attempt, long notBeforeMillis) implements Phase {}

  /**
   * It has started.
   *
   * @param attempt the current attempt, from 1
   * @param startedMillis when it started
   * @param killing whether it is being killed
   */
  record Running(int attempt, long startedMillis, boolean killing) implements Phase {}

  /**
   * It has ended.
   *
   * @param attempt the last attempt; 0 if it was killed before it ran
   * @param state {@link NodeState#FINISHED}, {@link NodeState#FAILED} or {@link NodeState#KILLED}
   * @param reason why, for people; empty if it finished
   * @param taken the branch that a condition chose; null for other types
   * @param startedMillis when it started; 0 for never
   * @param endedMillis when it ended
   */
  record Ended(
      int attempt,
      NodeState state,
      String reason,
      @Nullable Branch taken,
      long startedMillis,
      long endedMillis)
      implements Phase {
    /** Checks the state. */
    public Ended {
      if (!state.isTerminal() || state == NodeState.SKIPPED) {
        throw new IllegalArgumentException("no node ends as " + state.word());
      }
    }
  }

  /** Whether a node in this phase has ever started. */
  static boolean hasStarted(Phase phase) {
    return switch (phase) {
      case Waiting _ -> false;
      case Running _ -> true;
      case Ended ended -> ended.startedMillis() > 0;
    };
  }

  /** The phase of a new node. */
  Phase NEW = new Waiting(0, 0);
}

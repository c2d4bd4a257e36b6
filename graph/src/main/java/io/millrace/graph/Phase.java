package io.millrace.graph;

import io.millrace.graph.Definition.Branch;
import io.millrace.work.policy.EndedAttempt;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What has happened to a node itself; times in milliseconds since 1970. */
public sealed interface Phase {
  /** The attempts so far, including a current one. */
  Attempts attempts();

  /** The number of attempts so far, including a current one; from 0. */
  default int attempt() {
    return attempts().number();
  }

  /**
   * The attempts at a node.
   *
   * @param number how many have started, including a current one; from 0
   * @param interrupted how many of them were interrupted, and begun again without counting
   * @param snoozed how many of them asked to be put off
   * @param ended those that did not succeed, the oldest first; as many as are remembered
   */
  record Attempts(int number, int interrupted, int snoozed, List<EndedAttempt> ended) {
    /** Before the first one. */
    public static final Attempts NONE = of(0);

    public Attempts {
      ended = List.copyOf(ended);
    }

    /** So many, none of which was interrupted or snoozed. */
    public static Attempts of(int number) {
      return new Attempts(number, 0, 0, List.of());
    }

    /** With one more that starts. */
    public Attempts next() {
      return new Attempts(number + 1, interrupted, snoozed, ended);
    }

    /** With one that has ended and did not succeed. */
    public Attempts with(EndedAttempt attempt) {
      return new Attempts(number, interrupted, snoozed, attempt.after(ended));
    }

    /** How many count: those that were neither interrupted nor snoozed. */
    public int counted() {
      return number - interrupted - snoozed;
    }
  }

  /**
   * It has not started, or is to start again.
   *
   * @param attempts the attempts so far
   * @param notBeforeMillis the earliest time of a start; 0 for at once
   * @param reason how the last attempt ended, for people; empty if there was none
   * @param dueMillis when it is due for the first time since it became ready; 0 if it is not ready,
   *     and for nodes without a {@link Timing}
   */
  record Waiting(Attempts attempts, long notBeforeMillis, String reason, long dueMillis)
      implements Phase {
    /** A node that is not ready, or without a timing. */
    public Waiting(Attempts attempts, long notBeforeMillis, String reason) {
      this(attempts, notBeforeMillis, reason, 0);
    }

    /** The phase of a node that was ready and is not any more. */
    public Waiting notReady() {
      return new Waiting(attempts, attempts.number() == 0 ? 0 : notBeforeMillis, reason);
    }
  }

  /**
   * It has started.
   *
   * @param attempts the attempts with the current one
   * @param startedMillis when it started
   * @param killing whether it is being killed
   * @param dueMillis when it was due for the first time, before its first attempt; 0 for nodes
   *     without a {@link Timing}
   */
  record Running(Attempts attempts, long startedMillis, boolean killing, long dueMillis)
      implements Phase {
    /** A node without a timing. */
    public Running(Attempts attempts, long startedMillis, boolean killing) {
      this(attempts, startedMillis, killing, 0);
    }
  }

  /**
   * It has ended.
   *
   * @param attempts the attempts; none if it was killed or failed before it ran
   * @param state {@link NodeState#FINISHED}, {@link NodeState#FAILED} or {@link NodeState#KILLED}
   * @param reason why, for people; empty if it finished
   * @param taken the branch that a condition chose; null for other types
   * @param startedMillis when it started; 0 for never
   * @param endedMillis when it ended
   */
  record Ended(
      Attempts attempts,
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
  static Phase first() {
    return new Waiting(Attempts.NONE, 0, "");
  }
}

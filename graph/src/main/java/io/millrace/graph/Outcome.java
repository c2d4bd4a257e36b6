package io.millrace.graph;

import io.millrace.graph.Definition.Branch;
import io.millrace.work.policy.EndedAttempt;
import java.util.Locale;
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
   * It is to be tried again.
   *
   * @param notBeforeMillis the earliest time of the next attempt, in milliseconds since 1970; 0 for
   *     at once
   * @param cause why it did not succeed, which decides whether it counts
   * @param reason the same for people
   */
  record Again(long notBeforeMillis, Cause cause, String reason) implements Outcome {
    /** A failed attempt. */
    public Again(long notBeforeMillis, String reason) {
      this(notBeforeMillis, Cause.FAILED, reason);
    }
  }

  /** Why an attempt is repeated. */
  enum Cause {
    /** It failed; the only cause that counts. */
    FAILED,
    /** It was interrupted. */
    INTERRUPTED,
    /** It asked to be put off. */
    SNOOZED
  }

  /**
   * It was killed.
   *
   * @param reason the reason, for people
   */
  record Killed(String reason) implements Outcome {}

  /**
   * The phase of the node after it. A node that is being killed does not begin again.
   *
   * @param log the end of what the attempt wrote; null for nothing
   */
  default Phase after(Phase.Running running, @Nullable String log, long nowMillis) {
    return switch (this) {
      case Finished(Branch taken) ->
          new Phase.Ended(
              running.attempts(),
              NodeState.FINISHED,
              "",
              taken,
              running.startedMillis(),
              nowMillis);
      case Failed(String reason) ->
          new History(running, log, nowMillis).ended(NodeState.FAILED, reason);
      case Killed(String reason) ->
          new History(running, log, nowMillis).ended(NodeState.KILLED, reason);
      case Again _ when running.killing() ->
          new History(running, log, nowMillis).ended(NodeState.KILLED, "it was killed");
      case Again again -> new History(running, log, nowMillis).waiting(again);
    };
  }

  /** Adds an attempt that did not succeed to those of its node. */
  record History(Phase.Running running, @Nullable String log, long nowMillis) {
    private Phase.Attempts with(String end, String reason, @Nullable Cause cause) {
      Phase.Attempts before = running.attempts();
      EndedAttempt attempt =
          new EndedAttempt(null, running.startedMillis(), nowMillis, end, null, reason, log);
      return new Phase.Attempts(
          before.number(),
          before.interrupted() + (cause == Cause.INTERRUPTED ? 1 : 0),
          before.snoozed() + (cause == Cause.SNOOZED ? 1 : 0),
          attempt.after(before.ended()));
    }

    private Phase ended(NodeState state, String reason) {
      return new Phase.Ended(
          with(state.word(), reason, null),
          state,
          reason,
          null,
          running.startedMillis(),
          nowMillis);
    }

    private Phase waiting(Again again) {
      String end = again.cause().name().toLowerCase(Locale.ROOT);
      return new Phase.Waiting(
          with(end, again.reason(), again.cause()),
          again.notBeforeMillis(),
          again.reason(),
          running.dueMillis());
    }
  }
}

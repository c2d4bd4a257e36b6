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
      case Failed(String reason) -> ended(running, NodeState.FAILED, reason, log, nowMillis);
      case Killed(String reason) -> ended(running, NodeState.KILLED, reason, log, nowMillis);
      case Again _ when running.killing() ->
          ended(running, NodeState.KILLED, "it was killed", log, nowMillis);
      case Again(long notBefore, Cause cause, String reason) -> {
        String end = cause.name().toLowerCase(Locale.ROOT);
        Phase.Attempts attempts = counted(running.attempts(), cause);
        yield new Phase.Waiting(
            attempts.with(attempt(running, end, reason, log, nowMillis)),
            notBefore,
            reason,
            running.dueMillis());
      }
    };
  }

  private static Phase ended(
      Phase.Running running, NodeState state, String reason, @Nullable String log, long nowMillis) {
    EndedAttempt attempt = attempt(running, state.word(), reason, log, nowMillis);
    return new Phase.Ended(
        running.attempts().with(attempt), state, reason, null, running.startedMillis(), nowMillis);
  }

  private static EndedAttempt attempt(
      Phase.Running running, String end, String reason, @Nullable String log, long nowMillis) {
    return new EndedAttempt(null, running.startedMillis(), nowMillis, end, null, reason, log);
  }

  private static Phase.Attempts counted(Phase.Attempts attempts, Cause cause) {
    return new Phase.Attempts(
        attempts.number(),
        attempts.interrupted() + (cause == Cause.INTERRUPTED ? 1 : 0),
        attempts.snoozed() + (cause == Cause.SNOOZED ? 1 : 0),
        attempts.ended());
  }
}

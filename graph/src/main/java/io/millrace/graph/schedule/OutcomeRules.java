package io.millrace.graph.schedule;

import io.millrace.graph.Kill;
import io.millrace.graph.Kind;
import io.millrace.graph.Outcome;
import io.millrace.graph.type.Attempt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What becomes of a node by the end of an attempt. */
final class OutcomeRules {
  private static final int LONGEST_REASON = 1_000;

  /** The value that is the exit code of a program, and no number where there was none. */
  private static final String RESULT = "result";

  /** The exit code of a program that was ended by KILL. */
  private static final int CODE_OF_KILL = 128 + 9;

  private OutcomeRules() {}

  static Outcome of(ActiveAttempt active, Attempt.Ending ending, long nowMillis) {
    Kill kill = active.told;
    if (kill != null || active.killing) {
      // Also where it did what it was to do: what follows is not what somebody wanted then.
      return new Outcome.Killed(killed(kill, ending));
    }
    String failure = failure(active, ending);
    if (failure == null) {
      return new Outcome.Finished(active.type.kind() == Kind.CONDITION ? ending.taken() : null);
    }
    OptionalLong again = active.policy.again(active.number, nowMillis);
    return again.isPresent()
        ? new Outcome.Again(again.getAsLong())
        : new Outcome.Failed(
            failure.length() > LONGEST_REASON
                ? failure.substring(0, LONGEST_REASON) + "…"
                : failure);
  }

  /** Only programs hear signals, and tell by their exit code whether that ended them. */
  private static String killed(@Nullable Kill kill, Attempt.Ending ending) {
    JsonNode code = ending.values().get(RESULT);
    if (kill == null || kill.grace().isZero() || code == null || !code.isInt()) {
      return "it was killed";
    }
    return code.intValue() == CODE_OF_KILL && !kill.signal().equals("KILL")
        ? "it outlived " + kill.signal() + " and was killed"
        : "it was killed by " + kill.signal();
  }

  private static @Nullable String failure(ActiveAttempt active, Attempt.Ending ending) {
    if (active.timedOut) {
      return "timed out after " + active.policy.timeoutText();
    }
    if (ending.failure() == null
        && active.type.kind() == Kind.CONDITION
        && ending.taken() == null) {
      return "it chose neither then nor else";
    }
    return ending.failure();
  }
}

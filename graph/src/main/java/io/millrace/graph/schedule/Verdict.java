package io.millrace.graph.schedule;

import io.millrace.graph.Attempt;
import io.millrace.graph.Kill;
import io.millrace.graph.Kind;
import io.millrace.graph.Outcome;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What becomes of a node by the end of an attempt. */
final class Verdict {
  private static final int LONGEST_REASON = 1_000;

  /** The value that is the exit code of a program, and no number where there was none. */
  private static final String RESULT = "result";

  /** The exit code of a program that was ended by KILL. */
  private static final int CODE_OF_KILL = 128 + 9;

  private Verdict() {}

  static Outcome of(Trial trial, Attempt.Ending ending, long nowMillis) {
    Kill kill = trial.told;
    if (kill != null || trial.killing) {
      // Also where it did what it was to do: what follows is not what somebody wanted then.
      return new Outcome.Killed(killed(kill, ending));
    }
    String failure = failure(trial, ending);
    if (failure == null) {
      return new Outcome.Finished(trial.type.kind() == Kind.CONDITION ? ending.taken() : null);
    }
    OptionalLong again = trial.policy.again(trial.number, nowMillis);
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

  private static @Nullable String failure(Trial trial, Attempt.Ending ending) {
    if (trial.timedOut) {
      return "timed out after " + trial.policy.timeoutText();
    }
    if (ending.failure() == null && trial.type.kind() == Kind.CONDITION && ending.taken() == null) {
      return "it chose neither then nor else";
    }
    return ending.failure();
  }
}

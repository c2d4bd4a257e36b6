package io.millrace.graph.schedule;

import io.millrace.graph.Attempt;
import io.millrace.graph.Kill;
import io.millrace.graph.Kind;
import io.millrace.graph.Outcome;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What becomes of a node by the end of an attempt. */
final class Verdict {
  private static final int LONGEST_REASON = 1_000;

  private Verdict() {}

  static Outcome of(Trial trial, Attempt.Ending ending, long nowMillis) {
    Kill kill = trial.told;
    if (kill != null) {
      // Also where it did what it was to do: what follows is not what somebody wanted then.
      return new Outcome.Killed(
          kill.grace().isZero() ? "it was killed" : "it was killed by " + kill.signal());
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

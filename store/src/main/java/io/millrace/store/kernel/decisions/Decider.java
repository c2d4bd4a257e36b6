package io.millrace.store.kernel.decisions;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Commit.Change;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Transaction;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.RequestDigest;
import io.millrace.store.kernel.state.State;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Decides commands against a state, which it only reads. Pure: all it needs is passed in. */
public final class Decider {
  private final State state;
  private final Limits limits;

  /** A decider that looks at this state. */
  public Decider(State state, Limits limits) {
    this.state = state;
    this.limits = limits;
  }

  /** What becomes of {@code command} at a store time in milliseconds. */
  public Decision decide(Command command, long nowMillis, RandomGenerator random) {
    RequestDigest digest = null;
    String requestId = command.requestId();
    if (requestId != null && RefusalReasons.Names.isValid(requestId, limits.requestIdBytes())) {
      digest = RequestDigest.of(command, requestId);
      Decision earlier = recall(command, digest, nowMillis);
      if (earlier != null) {
        return earlier;
      }
    }
    return switch (command) {
      case Transaction transaction ->
          new TransactionDecision(state, limits, transaction, nowMillis).decide(digest);
      case Claim claim -> new ClaimDecision(state, limits, claim, nowMillis, random).decide(digest);
    };
  }

  private @Nullable Decision recall(Command command, RequestDigest digest, long nowMillis) {
    Event earlier = state.requests().find(command.client().principal(), digest.id(), nowMillis);
    if (earlier == null || earlier.request() == null) {
      return null;
    }
    if (earlier.request().sameContent(digest)) {
      return new Decision.Repeated(earlier);
    }
    return new Decision.Refused(
        List.of(
            Reason.of(
                Kind.REQUEST_ID_REUSED,
                "request id " + digest.id() + " was used before with other content")));
  }

  /** What the store makes of a command. */
  public sealed interface Decision {
    /** It takes effect as these changes, which are not empty; the state grows by so many bytes. */
    record Accepted(List<Change> changes, @Nullable RequestDigest request, long growthBytes)
        implements Decision {}

    /** A claim that found nothing to take. */
    record Nothing() implements Decision {}

    /** It took effect before, under the same request id. */
    record Repeated(Event event) implements Decision {}

    /** It is refused. */
    record Refused(List<Reason> reasons) implements Decision {}
  }
}

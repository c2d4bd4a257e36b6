package io.millrace.store.kernel.decisions;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Commit.Change;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Transaction;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.RequestDigest;
import io.millrace.store.kernel.state.State;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Decides commands. It reads the state and changes nothing. */
public final class Decider {
  private final State state;
  private final Limits limits;
  private final Ids ids;

  /** A decider for this state, which gives these ids. */
  public Decider(State state, Limits limits, Ids ids) {
    this.state = state;
    this.limits = limits;
    this.ids = ids;
  }

  /** Decides a command at a store time. */
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
          new TransactionDecision(state, limits, ids, transaction, nowMillis).decide(digest);
      case Claim claim ->
          new ClaimDecision(state, limits, ids, claim, nowMillis, random).decide(digest);
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

  /** The decision on a command. */
  public sealed interface Decision {
    /** It is executed with these changes, at least one, by which the state grows. */
    record Accepted(List<Change> changes, @Nullable RequestDigest request, long growthBytes)
        implements Decision {}

    /** A claim that found nothing, or a transaction without changes. */
    record Nothing() implements Decision {}

    /** It was executed before, with the same request id. */
    record Repeated(Event event) implements Decision {}

    /** It is refused. */
    record Refused(List<Reason> reasons) implements Decision {}
  }
}

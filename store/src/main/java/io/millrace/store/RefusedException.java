package io.millrace.store;

import io.millrace.store.Outcome.Reason;
import java.util.stream.Collectors;

/** A command was refused, and nothing has changed. */
public final class RefusedException extends StoreException {
  private final transient Outcome.Refused refused;

  /** An exception for a refusal. */
  public RefusedException(Outcome.Refused refused) {
    super(
        "refused: "
            + refused.reasons().stream().map(Reason::message).collect(Collectors.joining("; ")));
    this.refused = refused;
  }

  /** The answer, with all reasons. */
  public Outcome.Refused refused() {
    return refused;
  }
}

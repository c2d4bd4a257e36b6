package io.millrace.store;

import org.jspecify.annotations.Nullable;

/** A command that may change a store: a transaction or a claim. */
public sealed interface Command permits Transaction, Claim {
  /** The client that sends it. */
  Owner client();

  /** The id that makes the command repeatable for ten minutes of store time; null for none. */
  @Nullable String requestId();
}

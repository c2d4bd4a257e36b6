package io.millrace.store;

import org.jspecify.annotations.Nullable;

/** What can change a store: one of the two verbs. */
public sealed interface Command permits Transaction, Claim {
  /** The client that sends it. */
  Owner client();

  /** Makes the command repeatable for ten minutes of store time; null for none. */
  @Nullable String requestId();
}

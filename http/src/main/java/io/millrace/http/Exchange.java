package io.millrace.http;

import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Head;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way, from its complete head to the end of its answer. It begins when this is
 * made. For use by one thread at a time.
 */
final class Exchange {
  /** The status of "the client went away", until there is another. */
  private static final int NO_ANSWER = 499;

  private final @Nullable Head head;
  private final long beganNanos = System.nanoTime();
  private Routes.@Nullable Match match;
  private @Nullable Caller caller;
  private int status = NO_ANSWER;
  private boolean waited;
  private volatile boolean submitted;

  /** An exchange for a request with this head; null if the head is malformed. */
  Exchange(@Nullable Head head) {
    this.head = head;
  }

  /** The head; only for a request that has a good one. */
  Head head() {
    if (head == null) {
      throw new IllegalStateException("the request has no head");
    }
    return head;
  }

  /** The route; null until the request was let in. */
  Routes.@Nullable Match match() {
    return match;
  }

  void match(Routes.Match found) {
    match = found;
  }

  /** Who sends it; null until that was checked. */
  @Nullable Caller caller() {
    return caller;
  }

  void caller(Caller found) {
    caller = found;
  }

  /** How the errors of its route look. */
  ErrorForm errors() {
    return match == null ? ErrorForm.PLAIN : match.endpoint().route().errors();
  }

  /** The status of the answer. */
  int status() {
    return status;
  }

  void status(int given) {
    status = given;
  }

  /** Notes that a command is about to be handed to a store, so that a failure leaves doubt. */
  void submitted() {
    submitted = true;
  }

  boolean hasSubmitted() {
    return submitted;
  }

  /** Notes that it has waited for events, so that its duration says nothing. */
  void waited() {
    waited = true;
  }

  boolean hasWaited() {
    return waited;
  }

  /** How long it has taken so far. */
  long nanos() {
    return System.nanoTime() - beganNanos;
  }

  /** Method and path. */
  @Override
  public String toString() {
    return head == null ? "(unreadable)" : head.method() + " " + head.path();
  }
}

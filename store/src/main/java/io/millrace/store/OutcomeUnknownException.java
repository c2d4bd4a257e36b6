package io.millrace.store;

/**
 * The store stopped, or the connection broke, before the answer was certain: the command may have
 * taken effect or not. A caller that gave it a request id can ask again.
 */
public final class OutcomeUnknownException extends StoreException {
  /** With what happened. */
  public OutcomeUnknownException(String message) {
    super(message);
  }

  /** With what happened and its cause. */
  public OutcomeUnknownException(String message, Throwable cause) {
    super(message, cause);
  }
}

package io.millrace.store;

/**
 * The store stopped, or the connection failed, before the answer was certain: the command may have
 * been executed or not. If it has a request id, the caller can send it again.
 */
public final class OutcomeUnknownException extends StoreException {
  /** An exception that says what happened. */
  public OutcomeUnknownException(String message) {
    super(message);
  }

  /** An exception that says what happened, with its cause. */
  public OutcomeUnknownException(String message, Throwable cause) {
    super(message, cause);
  }
}

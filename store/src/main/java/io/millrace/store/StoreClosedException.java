package io.millrace.store;

/** The store is closed or has stopped; the command did not reach it and changed nothing. */
public final class StoreClosedException extends StoreException {
  /** With why it is closed. */
  public StoreClosedException(String message) {
    super(message);
  }

  /** With why it is closed and what led to it. */
  public StoreClosedException(String message, Throwable cause) {
    super(message, cause);
  }
}

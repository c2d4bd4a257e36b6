package io.millrace.store;

/** The store is closed or has stopped. The command has changed nothing. */
public final class StoreClosedException extends StoreException {
  /** An exception that says why the store is closed. */
  public StoreClosedException(String message) {
    super(message);
  }

  /** An exception that says why the store is closed, with its cause. */
  public StoreClosedException(String message, Throwable cause) {
    super(message, cause);
  }
}

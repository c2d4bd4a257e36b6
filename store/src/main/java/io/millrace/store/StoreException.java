package io.millrace.store;

/** The base class of the store's exceptions. */
public class StoreException extends RuntimeException {
  /** An exception whose message a person can act on. */
  public StoreException(String message) {
    super(message);
  }

  /** An exception whose message a person can act on, with its cause. */
  public StoreException(String message, Throwable cause) {
    super(message, cause);
  }
}

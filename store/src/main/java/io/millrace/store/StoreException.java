package io.millrace.store;

/** The root of what a store throws. */
public class StoreException extends RuntimeException {
  /** With a message that a person can act on. */
  public StoreException(String message) {
    super(message);
  }

  /** With a message that a person can act on, and what led to it. */
  public StoreException(String message, Throwable cause) {
    super(message, cause);
  }
}

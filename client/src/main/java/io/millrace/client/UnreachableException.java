package io.millrace.client;

import io.millrace.store.StoreException;

/** The server could not be reached, or a read got no answer; nothing changed. */
public final class UnreachableException extends StoreException {
  private static final long serialVersionUID = 1;

  /** With what was tried and how it failed. */
  public UnreachableException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Whether a server was reached that did not prove over {@code https} that it is the one that was
   * meant, so that trying again is of no use.
   */
  public boolean isUntrusted() {
    return getCause() instanceof NotSentException.Untrusted;
  }
}

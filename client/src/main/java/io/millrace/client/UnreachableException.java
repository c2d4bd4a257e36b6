package io.millrace.client;

import io.millrace.store.StoreException;
import java.net.ConnectException;

/** The server could not be reached, or a read got no response. Nothing changed. */
public final class UnreachableException extends StoreException {
  private static final long serialVersionUID = 1;

  /** With a message and its cause. */
  public UnreachableException(String message, Throwable cause) {
    super(message, cause);
  }

  /** Whether the certificate of the server is not trusted, so that a retry would not help. */
  public boolean isUntrusted() {
    return getCause() instanceof NotSentException.Untrusted;
  }

  /** Whether nothing listens at the address, so that a server may not be running there. */
  public boolean isRefused() {
    return getCause() instanceof NotSentException
        && getCause().getCause() instanceof ConnectException;
  }
}

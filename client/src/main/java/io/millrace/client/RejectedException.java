package io.millrace.client;

import io.millrace.store.StoreException;

/** The server did not take a request, so that nothing changed. */
public final class RejectedException extends StoreException {
  private static final long serialVersionUID = 1;

  private final int status;

  /** With the status and the reason that the server gave. */
  RejectedException(int status, String message) {
    super(message);
    this.status = status;
  }

  /** The HTTP status: 400 and 404 if the request was wrong, 401 and 403 for credentials. */
  public int status() {
    return status;
  }
}

package io.millrace.client;

import io.millrace.store.StoreException;

/** The server rejected a request; nothing changed. */
public final class RejectedException extends StoreException {
  private static final long serialVersionUID = 1;

  private final int status;

  /** A rejection with the status and the message of the server. */
  public RejectedException(int status, String message) {
    super(message);
    this.status = status;
  }

  /** The HTTP status: 400 and 404 if the request was wrong, 401 and 403 for credentials. */
  public int status() {
    return status;
  }
}

package io.millrace.client.jobs;

import io.millrace.store.StoreException;

/** The server rejected a worker, and a retry would not help. */
public final class WorkerRefusedException extends StoreException {
  private static final long serialVersionUID = 1;

  /** With the reason, that of the server if it gave one. */
  WorkerRefusedException(String message, Throwable cause) {
    super(message, cause);
  }

  /** With the reason, that of the server if it gave one. */
  WorkerRefusedException(String message) {
    super(message);
  }
}

package io.millrace.client.jobs;

import io.millrace.store.StoreException;

/** The server does not let a worker in, and trying again would not help. */
public final class WorkerRefusedException extends StoreException {
  private static final long serialVersionUID = 1;

  /** With the reason, in the server's words if it gave one. */
  WorkerRefusedException(String message, Throwable cause) {
    super(message, cause);
  }

  /** With the reason, in the server's words if it gave one. */
  WorkerRefusedException(String message) {
    super(message);
  }
}

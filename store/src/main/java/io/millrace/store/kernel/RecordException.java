package io.millrace.store.kernel;

import io.millrace.store.StoreException;

/** A record of a frame or snapshot does not have the documented form. */
final class RecordException extends StoreException {
  private static final long serialVersionUID = 1;

  RecordException(String message) {
    super("unreadable record: " + message);
  }

  RecordException(String message, Throwable cause) {
    super("unreadable record: " + message, cause);
  }
}

package io.millrace.store.kernel.records;

import io.millrace.store.StoreException;

/** A record of a frame or snapshot does not have the documented form. */
public final class RecordException extends StoreException {
  /** An exception that says what is wrong with the record. */
  public RecordException(String message) {
    super("unreadable record: " + message);
  }

  /** An exception that says what is wrong with the record, with its cause. */
  public RecordException(String message, Throwable cause) {
    super("unreadable record: " + message, cause);
  }
}

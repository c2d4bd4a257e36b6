package io.millrace.store.journal;

import io.millrace.store.StoreException;

/** A journal cannot be read or written. */
public class JournalException extends StoreException {
  /** With a message that names the file. */
  public JournalException(String message) {
    super(message);
  }

  /** With a message that names the file, and the cause. */
  public JournalException(String message, Throwable cause) {
    super(message, cause);
  }
}

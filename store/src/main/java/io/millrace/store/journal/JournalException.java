package io.millrace.store.journal;

import io.millrace.store.StoreException;

/** A journal cannot be read or written. */
public class JournalException extends StoreException {
  /** An exception whose message names the file or folder. */
  public JournalException(String message) {
    super(message);
  }

  /** An exception whose message names the file or folder, with its cause. */
  public JournalException(String message, Throwable cause) {
    super(message, cause);
  }
}

package io.millrace.store.journal;

/**
 * A frame may have been written, or may still be: the write or its answer was lost, and that could
 * not be resolved in time. The leader that gets this must end.
 */
public final class UnknownOutcomeException extends JournalException {
  /** An exception whose message names the journal, with the cause. */
  public UnknownOutcomeException(String message, Throwable cause) {
    super(message, cause);
  }
}

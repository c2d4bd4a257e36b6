package io.millrace.store.journal;

/** A store cannot be restored to a place that holds something, unless it may replace that. */
public final class OccupiedException extends JournalException {
  /** An exception whose message names the place and what is there. */
  public OccupiedException(String message) {
    super(message);
  }
}

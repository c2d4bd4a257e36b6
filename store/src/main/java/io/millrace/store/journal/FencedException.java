package io.millrace.store.journal;

/**
 * A frame was not written and never will be, because another leader has begun an epoch of the
 * journal. The leader that gets this has been deposed and must end.
 */
public final class FencedException extends JournalException {
  /** An exception whose message says who leads now, as far as that is known. */
  public FencedException(String message) {
    super(message);
  }
}

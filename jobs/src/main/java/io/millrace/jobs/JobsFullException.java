package io.millrace.jobs;

/**
 * The store has no room for what was asked; nothing happened. It succeeds once jobs were deleted.
 */
public final class JobsFullException extends JobsException {
  private static final long serialVersionUID = 1;

  /** With the store's message. */
  public JobsFullException(String message) {
    super(message);
  }
}

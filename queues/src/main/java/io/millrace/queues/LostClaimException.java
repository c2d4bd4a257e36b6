package io.millrace.queues;

/**
 * A runner or node acted on a claim that is not its own any more: it was too late, or an operator
 * took the task back. Its work must stop, and nothing of it was stored.
 */
public final class LostClaimException extends QueuesException {
  private static final long serialVersionUID = 1;

  /** What was lost, and to whom if that is known, in {@code message}. */
  public LostClaimException(String message) {
    super(message);
  }
}

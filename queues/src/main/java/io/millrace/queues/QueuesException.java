package io.millrace.queues;

import io.millrace.queues.QueuesException.StoreFullException;

/** Something that queues cannot do; the message says what a person can do about it. */
public class QueuesException extends RuntimeException {
  private static final long serialVersionUID = 1;

  QueuesException(String message) {
    super(message);
  }

  QueuesException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * A runner or node acted on a claim that is not its own any more: it was too late, or an operator
   * took the task back. Its work must stop, and nothing of it was stored.
   */
  public static final class LostClaimException extends QueuesException {
    private static final long serialVersionUID = 1;

    /** What was lost, and to whom if that is known, in {@code message}. */
    public LostClaimException(String message) {
      super(message);
    }
  }

  /**
   * The store has no room for what a request would add. Nothing is wrong with the request: it can
   * be repeated when there is room again. What shrinks the store goes on meanwhile.
   */
  public static final class StoreFullException extends InvalidRequestException {
    private static final long serialVersionUID = 1;

    StoreFullException(String message) {
      super("", message);
    }
  }

  /** What was asked of a queue task is not possible with the status that it has. */
  public static final class TaskStateException extends QueuesException {
    private static final long serialVersionUID = 1;

    TaskStateException(String message) {
      super(message);
    }
  }

  /**
   * A request that cannot be carried out as it is: malformed, about something unknown, or ({@link
   * StoreFullException}) more than there is room for.
   */
  public static sealed class InvalidRequestException extends QueuesException
      permits StoreFullException {
    private static final long serialVersionUID = 1;

    private final String field;

    /**
     * With what is wrong.
     *
     * @param field the field at fault; empty if it is none
     * @param message what is wrong with it
     */
    public InvalidRequestException(String field, String message) {
      super(message);
      this.field = field;
    }

    /** The field at fault; empty if it is none. */
    public String field() {
      return field;
    }
  }
}

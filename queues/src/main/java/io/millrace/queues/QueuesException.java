package io.millrace.queues;

import io.millrace.queues.QueuesException.StoreFullException;

/** A failure of queues; the message says what a person can do about it. */
public class QueuesException extends RuntimeException {
  /** With this message. */
  public QueuesException(String message) {
    super(message);
  }

  /** The same with a cause. */
  public QueuesException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * A runner or node acted on a claim that it no longer has: it was too late, or an operator took
   * the task back. Its work must stop; nothing of it was stored.
   */
  public static final class LostClaimException extends QueuesException {
    /** Says in {@code message} what was lost, and to whom if that is known. */
    public LostClaimException(String message) {
      super(message);
    }
  }

  /**
   * The store has no room for a request. Nothing is wrong with the request: it can be repeated when
   * there is room again. Meanwhile, requests that shrink the store are still carried out.
   */
  public static final class StoreFullException extends InvalidRequestException {
    /** With this message. */
    public StoreFullException(String message) {
      super("", message);
    }
  }

  /** Where the queues are kept cannot be reached; the outcome of the request is not known. */
  public static final class UnreachableException extends QueuesException {
    /** With what is wrong. */
    public UnreachableException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** The status of a queue task does not allow the request. */
  public static final class TaskStateException extends QueuesException {
    /** Says in {@code message} which status the task has. */
    public TaskStateException(String message) {
      super(message);
    }
  }

  /**
   * A request that cannot be carried out: it is malformed, names something unknown, or ({@link
   * StoreFullException}) needs more room than there is.
   */
  public static sealed class InvalidRequestException extends QueuesException
      permits StoreFullException {
    private final String field;

    /**
     * Says what is wrong.
     *
     * @param field the field that is wrong; empty if it is not one field
     * @param message what is wrong with it
     */
    public InvalidRequestException(String field, String message) {
      super(message);
      this.field = field;
    }

    /** The field that is wrong; empty if it is not one field. */
    public String field() {
      return field;
    }
  }
}

package io.millrace.queues;

/**
 * A request that cannot be carried out as it is: malformed, about something unknown, or ({@link
 * StoreFullException}) more than there is room for.
 */
public sealed class InvalidRequestException extends QueuesException permits StoreFullException {
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

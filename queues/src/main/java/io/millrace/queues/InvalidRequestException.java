package io.millrace.queues;

/** A request that cannot be carried out as it is: malformed, or about something unknown. */
public final class InvalidRequestException extends QueuesException {
  private static final long serialVersionUID = 1;

  private final String field;

  /**
   * With what is wrong.
   *
   * @param field the field at fault; empty where it is none
   * @param message what is wrong with it
   */
  public InvalidRequestException(String field, String message) {
    super(message);
    this.field = field;
  }

  /** The field at fault; empty where it is none. */
  public String field() {
    return field;
  }
}

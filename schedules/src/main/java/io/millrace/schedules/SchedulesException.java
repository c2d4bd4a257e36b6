package io.millrace.schedules;

/** A failure of schedules; the message says what a person can do about it. */
public class SchedulesException extends RuntimeException {
  SchedulesException(String message) {
    super(message);
  }

  SchedulesException(String message, Throwable cause) {
    super(message, cause);
  }

  /** A schedule, or a request about one, that is not valid. */
  public static final class InvalidScheduleException extends SchedulesException {
    private final String field;

    /**
     * Says what is wrong.
     *
     * @param field the field that is wrong; empty if it is not one field
     * @param message what is wrong with it
     */
    public InvalidScheduleException(String field, String message) {
      super(message);
      this.field = field;
    }

    /** The field that is wrong; empty if it is not one field. */
    public String field() {
      return field;
    }
  }

  /** The store has no room: the request can be repeated when there is room again. */
  public static final class StoreFullException extends SchedulesException {
    StoreFullException(String message) {
      super(message);
    }
  }

  /** There is no schedule of this name. */
  public static final class NoScheduleException extends SchedulesException {
    /** There is none of this name. */
    public NoScheduleException(String name) {
      super("there is no schedule '" + name + "'");
    }
  }

  /** The state of a schedule does not allow the request. */
  public static final class ScheduleStateException extends SchedulesException {
    ScheduleStateException(String message) {
      super(message);
    }
  }
}

package io.millrace.work.policy;

/** A setting of a {@link Policy} is invalid. */
public final class PolicyException extends IllegalArgumentException {
  private final String field;

  /**
   * A setting that is invalid.
   *
   * @param field the field that is wrong; empty if it cannot be named
   */
  public PolicyException(String field, String message) {
    super(message);
    this.field = field;
  }

  /** The field that is wrong, for example {@code retry_delay}. */
  public String field() {
    return field;
  }
}

package io.millrace.work.policy;

/** A setting of a {@link Policy} is invalid. */
public final class PolicyException extends IllegalArgumentException {
  private final String field;

  PolicyException(String field, String message) {
    super(message);
    this.field = field;
  }

  /** The field that is wrong, for example {@code retry_delay}. */
  public String field() {
    return field;
  }
}

package io.millrace.bench;

/** A measurement that could not be made, and why. */
public final class BenchException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BenchException(String message) {
    super(message);
  }

  BenchException(String message, Throwable cause) {
    super(message, cause);
  }
}

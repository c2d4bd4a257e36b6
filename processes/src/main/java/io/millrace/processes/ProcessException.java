package io.millrace.processes;

/**
 * The root of the exceptions of this package: the message names the process or folder, and what
 * went wrong.
 */
public class ProcessException extends RuntimeException {
  /** Has a message that a person can act on. */
  public ProcessException(String message) {
    super(message);
  }

  /** Has a message that a person can act on, and the cause. */
  public ProcessException(String message, Throwable cause) {
    super(message, cause);
  }
}

package io.millrace.processes;

/** The root of what this package throws: the message says which process or folder, and what. */
public class ProcessException extends RuntimeException {
  /** With a message that a person can act on. */
  public ProcessException(String message) {
    super(message);
  }

  /** With a message that a person can act on, and what led to it. */
  public ProcessException(String message, Throwable cause) {
    super(message, cause);
  }
}

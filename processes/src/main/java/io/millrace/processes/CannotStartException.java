package io.millrace.processes;

/**
 * A program was not started and will not run: its command was not found or is not executable, its
 * working directory is missing, its folder is in use, or the system refused. The message says
 * which.
 */
public final class CannotStartException extends ProcessException {
  CannotStartException(String message) {
    super(message);
  }

  CannotStartException(String message, Throwable cause) {
    super(message, cause);
  }
}

package io.millrace.cli.terminal;

/** The command line is wrong; the message says how. */
public final class UsageException extends RuntimeException {
  /** With a message. */
  public UsageException(String message) {
    super(message);
  }

  /** With a message and a cause. */
  public UsageException(String message, Throwable cause) {
    super(message, cause);
  }
}

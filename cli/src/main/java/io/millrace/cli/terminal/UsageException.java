package io.millrace.cli.terminal;

/** The command line is wrong; the message says how. */
public final class UsageException extends RuntimeException {
  /** With what is wrong. */
  public UsageException(String message) {
    super(message);
  }

  /** With what is wrong and what found it. */
  public UsageException(String message, Throwable cause) {
    super(message, cause);
  }
}

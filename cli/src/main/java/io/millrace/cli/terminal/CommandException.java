package io.millrace.cli.terminal;

/** A command failed; the message says why. */
public final class CommandException extends RuntimeException {
  private final int exitCode;

  /**
   * With a message.
   *
   * @param exitCode one of {@link ExitCode}
   */
  public CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /**
   * With a message and a cause.
   *
   * @param exitCode one of {@link ExitCode}
   */
  public CommandException(int exitCode, String message, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /** The exit code of the process. */
  public int exitCode() {
    return exitCode;
  }
}

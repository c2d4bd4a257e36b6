package io.millrace.cli.terminal;

/** A command ends without having done its work. */
public final class CommandException extends RuntimeException {
  private final int exitCode;

  /**
   * With why.
   *
   * @param exitCode one of {@link ExitCode}
   */
  public CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /**
   * With why and what led to it.
   *
   * @param exitCode one of {@link ExitCode}
   */
  public CommandException(int exitCode, String message, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /** What to exit with. */
  public int exitCode() {
    return exitCode;
  }
}

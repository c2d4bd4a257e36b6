package io.millrace.cli.terminal;

/** The exit codes of all commands. */
public final class ExitCode {
  /** Success. */
  public static final int OK = 0;

  /** Failure, for example an unreachable server, a failing disk or a folder in use. */
  public static final int FAILURE = 1;

  /** The command line or the configuration is wrong; nothing was done. */
  public static final int USAGE = 2;

  /** The server or the store refused the request; nothing was changed. */
  public static final int REFUSED = 3;

  /** Something named on the command line does not exist, or there was nothing to claim. */
  public static final int NOTHING = 4;

  /** Stored files are damaged. */
  public static final int DAMAGED = 5;

  /** Something waited for ended without success. */
  public static final int UNSUCCESSFUL = 6;

  /** Something waited for did not end before the timeout. */
  public static final int TIMED_OUT = 7;

  /**
   * The store of a server has stopped, for example after a failed write: start the server again.
   * The value is EX_IOERR of sysexits.h.
   */
  public static final int STOPPED = 74;

  private ExitCode() {}
}

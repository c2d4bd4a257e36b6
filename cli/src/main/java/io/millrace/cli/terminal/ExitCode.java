package io.millrace.cli.terminal;

/** What the launcher's commands exit with. */
public final class ExitCode {
  /** It was done. */
  public static final int OK = 0;

  /** It could not be done: no server, a disk that fails, a folder in use. */
  public static final int FAILURE = 1;

  /** The command line or the configuration is wrong; nothing was tried. */
  public static final int USAGE = 2;

  /** The store refused, and nothing changed. */
  public static final int REFUSED = 3;

  /** What was named is not there, or there was nothing to claim. */
  public static final int NOTHING = 4;

  /** Stored files are damaged. */
  public static final int DAMAGED = 5;

  /** What was waited for has ended, and not well. */
  public static final int UNSUCCESSFUL = 6;

  /** What was waited for has not ended in the time given. */
  public static final int TIMED_OUT = 7;

  /**
   * The store of a server has stopped by itself, as after a failed write: start it again. The value
   * is EX_IOERR of sysexits.h.
   */
  public static final int STOPPED = 74;

  private ExitCode() {}
}

package io.millrace.processes;

/** The end of a process. */
public sealed interface ExitStatus {
  /**
   * The program ended.
   *
   * @param code 0 to 255 as a shell shows it: 128 + n for a program that signal n ended, 126 or 127
   *     also for one that the system would not run after all (a missing interpreter, a foreign
   *     format)
   */
  record Exited(int code) implements ExitStatus {}

  /** The launcher died before the program began; it never will. */
  record NeverStarted() implements ExitStatus {}

  /**
   * The program is gone and its end was not recorded: its supervisor was killed, the machine was
   * restarted, or there was no room for the record.
   */
  record Unknown() implements ExitStatus {}
}

package io.millrace.processes;

/** How a process ended. */
public sealed interface ExitStatus {
  /**
   * The program ended.
   *
   * @param code 0 to 255 as a shell shows it: 128 + n for a program that signal n ended, 126 or 127
   *     also for one that the system would not run after all (a missing interpreter, a foreign
   *     format)
   */
  record Exited(int code) implements ExitStatus {}

  /** The launcher died before it let the program begin; it never will. */
  record NeverStarted() implements ExitStatus {}

  /**
   * The program is gone and there is no record of how: its supervisor was killed, the machine
   * restarted, or there was no room for the record.
   */
  record Unknown() implements ExitStatus {}
}

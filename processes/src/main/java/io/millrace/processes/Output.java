package io.millrace.processes;

import java.util.Locale;

/** The outputs of a program that are kept. */
public enum Output {
  /**
   * Standard output and standard error, each in its own file, to which the program itself appends.
   * The order between the two is not known.
   */
  SEPARATE,

  /**
   * One file that the program appends both to: exactly in the order in which it wrote, and nothing
   * says which bytes were of which kind.
   */
  MIXED,

  /**
   * Both files and the mixed one. The program writes to two pipes, and what comes out of them is
   * appended to the kind's file and to the mixed one. Within a kind the order is exact. Between the
   * kinds it is that of arrival: writes that are milliseconds apart keep their order, writes in
   * quick succession may swap, and lines may be torn if they are longer than a pipe takes at once.
   * A {@link ProcessLauncher} has a {@code tee} behind each pipe, two more small processes for each
   * program; what supervises the programs of a {@link ProcessSpawner} reads both itself.
   *
   * <p>{@link RunningProcess#onExit()} waits for the pipes to be empty. A process that the program
   * leaves behind with its output open keeps a pipe open; then it waits for {@link
   * ProcessLauncher#DRAIN_TIME} and no longer.
   */
  ALL;

  /** One of a program's outputs. */
  public enum Kind {
    /** Its standard output. */
    STDOUT,
    /** Its standard error. */
    STDERR,
    /** Both, in order of arrival, as far as {@link Output} says. */
    MIXED;

    String fileName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}

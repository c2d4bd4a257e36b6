package io.millrace.processes;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which process is meant: a pid together with the mark of its start, so that a later process with
 * the same pid is another one. Valid on the machine, and in the pid namespace (container), where it
 * was made. {@link #toString()} and {@link #parse} carry it through files and the store.
 *
 * @param pid the process id, which is also the id of its session and process group; at least 2
 * @param startMark when it started, opaque: on Linux the boot's id and the start in clock ticks of
 *     that boot, elsewhere the start in UTC as {@code ps} prints it, to the second
 */
public record ProcessIdentity(long pid, String startMark) {
  private static final Pattern FORM = Pattern.compile("(\\d{1,18}) (\\S.*)");

  /**
   * Checks the parts.
   *
   * @throws IllegalArgumentException when the pid is below 2 or the mark is empty or has line ends
   */
  public ProcessIdentity {
    // 0, 1 and negative numbers mean other things than one process to kill(2).
    if (pid < 2) {
      throw new IllegalArgumentException("no process of ours has the pid " + pid);
    }
    if (startMark.isBlank() || startMark.contains("\n")) {
      throw new IllegalArgumentException("a start mark is one line and not empty");
    }
  }

  /**
   * The identity that {@link #toString()} wrote.
   *
   * @throws IllegalArgumentException when it is none
   */
  public static ProcessIdentity parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException("not the identity of a process: \"" + text + "\"");
    }
    return new ProcessIdentity(Long.parseLong(form.group(1)), form.group(2));
  }

  /** The pid, a space and the mark. */
  @Override
  public String toString() {
    return pid + " " + startMark;
  }
}

package io.millrace.processes;

import java.io.IOException;
import java.util.List;

/** The group of processes that a program leads, as the receiver of signals. */
record ProcessGroup(ProcessIdentity leader, String sh) {
  boolean isEmpty() {
    return !signal("0");
  }

  /**
   * Sends a signal to every process of the group.
   *
   * @return whether there was one
   */
  boolean signal(String signal) {
    if (!StartMarks.mayHaveGroup(leader)) {
      return false;
    }
    // Java can signal single processes only; kill is built into every sh.
    List<String> command =
        List.of(sh, "-c", "kill -s \"$1\" -- \"-$2\"", "kill", signal, "" + leader.pid());
    try {
      Process kill =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      kill.getOutputStream().close();
      return kill.onExit().join().exitValue() == 0;
    } catch (IOException e) {
      throw new ProcessException("process group " + leader.pid() + " cannot be signalled: " + e, e);
    }
  }
}

package io.millrace.cli.tasks;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.queues.Status;
import java.util.Map;

/** How tasks end. */
final class Ends {
  /** The exit codes of commands that wait for tasks. */
  static final Map<String, String> EXIT_CODES =
      Map.of(
          "6", "a task ended otherwise than succeeded",
          "7", "the time given ran out before all tasks had ended");

  private Ends() {}

  /** Whether a task with this status comes no further by itself. */
  static boolean isEnd(int status) {
    return Status.isFinished(status) || Status.isHeld(status);
  }

  /** The exit code for one task. */
  static int exitCode(int status) {
    return status == Status.SUCCEEDED ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
  }
}

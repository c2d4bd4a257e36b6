package io.millrace.queues.runner;

import io.millrace.processes.ExitStatus;
import io.millrace.processes.OutputKind;
import io.millrace.processes.OutputTail;
import io.millrace.processes.ProcessException;
import io.millrace.processes.RunningProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/** What is known of the end of a runner. */
final class Obituary {
  private static final int SHOWN_BYTES = 500;

  private Obituary() {}

  static String of(RunningProcess process, TaskFolder folder) {
    try {
      if (Files.exists(folder.lastWords())) {
        return Files.readString(folder.lastWords());
      }
    } catch (IOException e) {
      // Then the rest has to tell it.
      return "its runner ended itself";
    }
    ExitStatus status = process.onExit().getNow(new ExitStatus.Unknown());
    String end =
        switch (status) {
          case ExitStatus.Exited(int code) -> "its runner ended with exit code " + code;
          case ExitStatus.NeverStarted _ -> "its runner was never started";
          case ExitStatus.Unknown _ -> "its runner ended";
        };
    String complaints = tail(process);
    return complaints.isEmpty() ? end : end + ": " + complaints;
  }

  private static String tail(RunningProcess process) {
    try {
      OutputTail err = process.output(OutputKind.STDERR);
      long from = Math.max(0, err.size() - SHOWN_BYTES);
      return new String(err.read(from, SHOWN_BYTES), StandardCharsets.UTF_8).strip();
    } catch (ProcessException e) {
      return "";
    }
  }
}

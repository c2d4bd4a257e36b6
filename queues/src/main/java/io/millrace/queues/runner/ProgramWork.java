package io.millrace.queues.runner;

import io.millrace.processes.ProcessIdentity;
import io.millrace.processes.ProcessLauncher;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.PluginException;
import io.millrace.queues.plugin.ProgramForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A program in a session of its own, with all that it starts there. */
final class ProgramWork implements Work {
  private static final String GATE =
      "read -r millrace_go || exit 125; millrace_in=$1; shift; exec \"$@\" <\"$millrace_in\"";
  private static final int LONGEST_PAUSE_MILLIS = 100;

  private final Process process;
  private final Watchdog watchdog;
  private final TaskFolder folder;
  private final CountDownLatch killed = new CountDownLatch(1);
  private volatile boolean terminating;

  private ProgramWork(Process process, Watchdog watchdog, TaskFolder folder) {
    this.process = process;
    this.watchdog = watchdog;
    this.folder = folder;
  }

  /** Starts the program. It begins only once the watchdog knows of it. */
  static ProgramWork start(ProgramForm.Call call, RunTask task, Watchdog watchdog)
      throws PluginException {
    ProcessLauncher launcher = task.launcher();
    ProcessBuilder builder = builder(call, task);
    try {
      Process process = builder.start();
      try {
        long group = process.pid();
        ProcessIdentity leader =
            launcher
                .identify(group)
                .orElseThrow(() -> new IOException("the shell before it has ended"));
        task.folder().recordGroup(leader);
        watchdog.guard(group);
        process.getOutputStream().write('\n');
        process.getOutputStream().close();
        return new ProgramWork(process, watchdog, task.folder());
      } catch (IOException | RuntimeException e) {
        // It waits at its gate, so it has started nothing.
        process.destroyForcibly();
        throw e;
      }
    } catch (IOException e) {
      throw new PluginException("the program cannot be started: " + e.getMessage(), e);
    }
  }

  private static ProcessBuilder builder(ProgramForm.Call call, RunTask task)
      throws PluginException {
    if (call.command().getFirst().startsWith("-")) {
      throw new PluginException("the command starts with a dash: " + call.command().getFirst());
    }
    TaskFolder folder = task.folder();
    List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", GATE, "millrace"));
    command.add(call.paramsOnStdin() ? task.writeParams().toString() : "/dev/null");
    command.addAll(call.command());
    ProcessBuilder builder = new ProcessBuilder(task.launcher().inOwnSession(command));
    builder.environment().putAll(task.environment());
    builder.environment().putAll(call.environment());
    String wanted = call.directory();
    Path directory = wanted == null ? folder.work() : folder.work().resolve(wanted);
    if (!Files.isDirectory(directory)) {
      throw new PluginException("the working directory " + directory + " is not there");
    }
    return builder
        .directory(directory.toFile())
        .redirectOutput(task.outputs().stdout().redirect())
        .redirectError(task.outputs().stderr().redirect());
  }

  @Override
  public Result await() throws InterruptedException {
    int code = process.waitFor();
    long group = process.pid();
    int pause = 1;
    while (terminating
        && watchdog.signal("0", group)
        && !killed.await(pause, TimeUnit.MILLISECONDS)) {
      pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
    }
    // A slot is free only when the work has stopped: what was left behind ends here.
    watchdog.end(group);
    folder.forgetGroup();
    return result(code);
  }

  private Result result(int code) {
    String reason = code == 0 ? null : "exit code " + code;
    String word;
    try {
      if (!Files.exists(folder.status())) {
        return new Result(code == 0 ? Status.SUCCEEDED : Status.FAILED, reason, null);
      }
      word = Files.readString(folder.status(), StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      return Result.failed("the status file cannot be read: " + e);
    }
    try {
      int status = Integer.parseInt(word);
      if (Status.isFinished(status)) {
        return new Result(status, reason, null);
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    String shown = word.length() > 80 ? word.substring(0, 80) + "…" : word;
    return Result.failed("the status file says \"" + shown + "\", which is no positive integer");
  }

  @Override
  public void terminate() {
    terminating = true;
    if (!watchdog.signal("TERM", process.pid())) {
      // Its session may not have begun yet.
      process.destroy();
    }
  }

  @Override
  public void kill() {
    killed.countDown();
    watchdog.signal("KILL", process.pid());
    process.destroyForcibly();
  }
}

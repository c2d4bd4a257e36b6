package io.millrace.queues.runner;

import io.millrace.processes.GuardedGroup;
import io.millrace.processes.Watchdog;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.PluginException;
import io.millrace.queues.plugin.ProgramForm;
import io.millrace.work.Backoff;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A program in a process group of its own, with all that it starts there. */
final class ProgramWork implements Work {
  private static final Path NOTHING = Path.of("/dev/null");
  private static final Duration FIRST_PAUSE = Duration.ofMillis(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);

  private final GuardedGroup process;
  private final Redirects redirects;
  private final Path statusFile;
  private final CountDownLatch killed = new CountDownLatch(1);
  private volatile boolean terminating;

  private ProgramWork(GuardedGroup process, Redirects redirects, Path statusFile) {
    this.process = process;
    this.redirects = redirects;
    this.statusFile = statusFile;
  }

  /** Starts the program. It begins only if its end with this process is certain. */
  static ProgramWork start(ProgramForm.Call call, TaskRun.RunTask task, Watchdog watchdog)
      throws PluginException {
    ProcessBuilder builder = builder(call, task);
    Path input =
        switch (call.input()) {
          case NOTHING -> NOTHING;
          case PARAMS -> task.writeParams();
        };
    try {
      Redirects redirects =
          call.mixes() ? Redirects.OutputMerger.begin(task) : Redirects.straight(task.outputs());
      builder.redirectOutput(redirects.stdout()).redirectError(redirects.stderr());
      try {
        GuardedGroup process = GuardedGroup.start(builder, input, task.folder().group(), watchdog);
        return new ProgramWork(process, redirects, task.folder().status());
      } catch (IOException e) {
        redirects.close();
        throw e;
      }
    } catch (IOException e) {
      throw new PluginException("the program cannot be started: " + e.getMessage(), e);
    }
  }

  private static ProcessBuilder builder(ProgramForm.Call call, TaskRun.RunTask task)
      throws PluginException {
    if (call.command().getFirst().startsWith("-")) {
      throw new PluginException("the command starts with a dash: " + call.command().getFirst());
    }
    TaskFolder folder = task.folder();
    ProcessBuilder builder = new ProcessBuilder(call.command());
    builder.environment().putAll(task.environment());
    builder.environment().putAll(call.environment());
    String wanted = call.directory();
    Path directory = wanted == null ? folder.work() : folder.work().resolve(wanted);
    if (!Files.isDirectory(directory)) {
      throw new PluginException("the working directory " + directory + " is not there");
    }
    return builder.directory(directory.toFile());
  }

  @Override
  public Result await() throws InterruptedException {
    int code = process.waitFor();
    Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
    boolean wasKilled = false;
    while (terminating && process.isGroupAlive() && !wasKilled) {
      wasKilled = killed.await(backoff.next().toNanos(), TimeUnit.NANOSECONDS);
    }
    // A slot is free only when the work has stopped: what was left behind ends here.
    process.end();
    redirects.drain();
    return result(code);
  }

  private Result result(int code) {
    String reason = code == 0 ? null : "exit code " + code;
    String word;
    try {
      if (!Files.exists(statusFile)) {
        return new Result(code == 0 ? Status.SUCCEEDED : Status.FAILED, reason, null);
      }
      word = Files.readString(statusFile, StandardCharsets.ISO_8859_1).strip();
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
    process.terminate();
  }

  @Override
  public void kill() {
    killed.countDown();
    process.kill();
  }
}

package io.millrace.queues.runner;

import io.millrace.processes.GuardedGroup;
import io.millrace.processes.NamedPipe;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.Watchdog;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.PluginException;
import io.millrace.queues.plugin.ProgramForm;
import io.millrace.queues.plugin.ProgramForm.Output;
import io.millrace.work.Backoff;
import io.millrace.work.policy.RetryPolicy.Failed;
import io.millrace.work.policy.StatusText;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A program in a process group of its own, with all that it starts there. */
final class ProgramWork implements Work {
  private static final Path NOTHING = Path.of("/dev/null");
  private static final Duration FIRST_PAUSE = Duration.ofMillis(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);

  private final GuardedGroup process;
  private final Redirects redirects;
  private final Path statusFile;
  private final boolean returns;
  private final CountDownLatch killed = new CountDownLatch(1);
  private volatile boolean terminating;

  private ProgramWork(GuardedGroup process, Redirects redirects, Path statusFile, boolean returns) {
    this.process = process;
    this.redirects = redirects;
    this.statusFile = statusFile;
    this.returns = returns;
  }

  /** Starts the program. It begins only if its end with this process is certain. */
  static ProgramWork start(ProgramForm.Call call, RunTask task, Watchdog watchdog)
      throws PluginException {
    ProcessBuilder builder = builder(call, task);
    Path input =
        switch (call.input()) {
          case NOTHING -> NOTHING;
          case PARAMS -> task.writeInput(task.params());
          case TASK -> task.writeInput(task.document());
        };
    try {
      Redirects redirects =
          switch (call.output()) {
            case WRITTEN -> Redirects.straight(task, false);
            case MIXED -> Redirects.OutputMerger.begin(task);
            case RETURNED -> Redirects.straight(task, true);
          };
      builder.redirectOutput(redirects.stdout()).redirectError(redirects.stderr());
      try {
        GuardedGroup process = GuardedGroup.start(builder, input, task.folder().group(), watchdog);
        return new ProgramWork(
            process, redirects, task.folder().status(), call.output() == Output.RETURNED);
      } catch (IOException e) {
        redirects.close();
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
    ProcessBuilder builder = new ProcessBuilder(call.command());
    builder.environment().putAll(task.environment());
    builder.environment().putAll(call.environment());
    if (call.output() == Output.RETURNED) {
      for (String name : List.of("stdout", "stderr")) {
        builder
            .environment()
            .put(
                "MILLRACE_RETURNED_" + name.toUpperCase(Locale.ROOT),
                folder.returned(name).toString());
      }
    }
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
        if (returns) {
          return new Result(
              Status.FAILED,
              reason,
              "the plugin ended its process with exit code %d before it had returned"
                  .formatted(code),
              failed(code, null));
        }
        int status = code == 0 ? Status.SUCCEEDED : Status.FAILED;
        return new Result(status, reason, null, failed(code, null));
      }
      word = Files.readString(statusFile, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      return Result.failed("the status file cannot be read: " + e);
    }
    return StatusText.parse(word)
        .map(said -> said(said, code, reason))
        .orElseGet(() ->
            Result.failed(
                "the status file says \""
                    + StatusText.shown(word)
                    + "\", which is no positive integer"));
  }

  private static Result said(StatusText said, int code, @Nullable String reason) {
    Duration delay = said.delay();
    return said.snoozes() && delay != null
        ? new Result(Status.FAILED, reason, null, new RetryWish.Snooze(delay))
        : new Result(said.status(), reason, null, failed(code, delay));
  }

  private static RetryWish failed(int code, @Nullable Duration delay) {
    return new RetryWish.IfFailed(new Failed(code == 0 ? null : Integer.toString(code), delay));
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

  /** Where a program writes to. */
  interface Redirects {
    ProcessBuilder.Redirect stdout();

    ProcessBuilder.Redirect stderr();

    /**
     * Sees to it that what was written is in the outputs, and closes. For when the program ended.
     */
    void drain() throws InterruptedException;

    /** Gives up what it holds. For a program that did not begin. */
    void close();

    /**
     * Straight into the files of the outputs.
     *
     * @param returns whether what the program has returned takes their place
     */
    static Redirects straight(RunTask task, boolean returns) {
      Outputs outputs = task.outputs();
      return new Redirects() {
        @Override
        public ProcessBuilder.Redirect stdout() {
          return outputs.stdout().redirect();
        }

        @Override
        public ProcessBuilder.Redirect stderr() {
          return outputs.stderr().redirect();
        }

        @Override
        public void drain() {
          if (returns) {
            outputs.take(task.folder().returned("stdout"), task.folder().returned("stderr"));
          }
        }

        @Override
        public void close() {}
      };
    }

    /**
     * Two pipes that a program writes to. What comes out of them is copied into the output of each
     * and, in order of arrival, into the one that has both. Writes that are milliseconds apart keep
     * their order; of those in quick succession it is not known.
     */
    static final class OutputMerger implements Redirects {
      private final NamedPipe stdout;
      private final NamedPipe stderr;
      private final CountDownLatch open = new CountDownLatch(2);

      private OutputMerger(NamedPipe stdout, NamedPipe stderr) {
        this.stdout = stdout;
        this.stderr = stderr;
      }

      /** Begins to copy. */
      static OutputMerger begin(RunTask task) throws IOException {
        Outputs outputs = task.outputs();
        long most = task.assignment().limits().maxBytes();
        NamedPipe stdout = task.launcher().pipe(task.folder().output("stdout.pipe"));
        NamedPipe stderr;
        try {
          stderr = task.launcher().pipe(task.folder().output("stderr.pipe"));
        } catch (IOException e) {
          stdout.close();
          throw e;
        }
        OutputMerger mixing = new OutputMerger(stdout, stderr);
        OutputStream both = outputs.mix().stream(most);
        mixing.copy(stdout, outputs.stdout().stream(most), both);
        mixing.copy(stderr, outputs.stderr().stream(most), both);
        return mixing;
      }

      private void copy(NamedPipe pipe, OutputStream own, OutputStream both) {
        Thread.ofPlatform()
            .daemon()
            .name("mixing")
            .start(() -> {
              try {
                pipe.copyTo(bytes -> {
                  both.write(bytes);
                  own.write(bytes);
                });
              } finally {
                open.countDown();
              }
            });
      }

      @Override
      public ProcessBuilder.Redirect stdout() {
        return stdout.redirect();
      }

      @Override
      public ProcessBuilder.Redirect stderr() {
        return stderr.redirect();
      }

      /**
       * Waits until all is copied. A process that the program left behind in another session may
       * keep a pipe open: it is not waited for long, and what it writes later is lost.
       */
      @Override
      public void drain() throws InterruptedException {
        stdout.seal();
        stderr.seal();
        try {
          var _ = open.await(ProcessLauncher.DRAIN_TIME.toMillis(), TimeUnit.MILLISECONDS);
        } finally {
          close();
        }
      }

      @Override
      public void close() {
        stdout.close();
        stderr.close();
      }
    }
  }
}

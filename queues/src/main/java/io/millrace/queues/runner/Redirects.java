package io.millrace.queues.runner;

import io.millrace.processes.NamedPipe;
import io.millrace.processes.ProcessLauncher;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Where a program writes to. */
interface Redirects {
  ProcessBuilder.Redirect stdout();

  ProcessBuilder.Redirect stderr();

  /** Sees to it that what was written is in the outputs, and closes. For when the program ended. */
  void drain() throws InterruptedException;

  /** Gives up what it holds. For a program that did not begin. */
  void close();

  /** Straight into the files of the outputs. */
  static Redirects straight(Outputs outputs) {
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
      public void drain() {}

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
    static OutputMerger begin(TaskRun.RunTask task) throws IOException {
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
     * Waits until all is copied. A process that the program left behind in another session may keep
     * a pipe open: it is not waited for long, and what it writes later is lost.
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

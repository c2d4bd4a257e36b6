package io.millrace.cli.jobs;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.NewFile;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The target of a result: standard output, or a file that appears only when it is complete. */
final class ResultTarget {
  private static final Duration SILENCE = Duration.ofSeconds(60);
  private static final int BUFFER_BYTES = 64 << 10;
  private static final int MEBI_SHIFT = 20;

  private final Terminal terminal;
  private final @Nullable NewFile file;

  private ResultTarget(Terminal terminal, @Nullable NewFile file) {
    this.terminal = terminal;
    this.file = file;
  }

  /**
   * The target that the command line gives.
   *
   * @param name a file, which is replaced if it exists; - or null for standard output
   * @throws UsageException if it cannot be a file
   */
  static ResultTarget named(Terminal terminal, @Nullable String name) {
    return new ResultTarget(
        terminal, name == null || name.equals("-") ? null : NewFile.named(name));
  }

  /** Whether it is standard output. */
  boolean isStandardOutput() {
    return file == null;
  }

  /**
   * Fetches the result of a job.
   *
   * @throws CommandException if there is no result, or it ends too early
   */
  void fetch(JsonCalls calls, String key) throws IOException {
    JsonNode job = JobServer.find(calls, key);
    if (!job.path("resultSize").isIntegralNumber()) {
      throw new CommandException(
          ExitCode.NOTHING,
          "the job " + key + " has no result: it is " + job.path("status").asString());
    }
    try (InputStream result =
        calls.stream(JobServer.path(job.path("id").asString()) + "/result", SILENCE)) {
      write(result, job.path("resultSize").asLong());
    }
  }

  private void write(InputStream result, long size) throws IOException {
    if (file == null) {
      copy(result, terminal.out(), size);
      terminal.out().flush();
    } else {
      file.write(out -> copy(result, out, size));
    }
  }

  private void copy(InputStream result, OutputStream out, long size) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    long copied = 0;
    try (ProgressBar bar = new ProgressBar(terminal, "MiB fetched")) {
      while (true) {
        int count = read(result, buffer);
        if (count < 0) {
          break;
        }
        out.write(buffer, 0, count);
        if (isStandardOutput() && terminal.out().checkError()) {
          throw new CommandException(ExitCode.FAILURE, "cannot write to standard output");
        }
        copied += count;
        bar.show(copied >> MEBI_SHIFT, size >> MEBI_SHIFT);
      }
    }
    if (copied < size) {
      throw new CommandException(
          ExitCode.FAILURE, "the result ended after " + copied + " of " + size + " bytes");
    }
  }

  private static int read(InputStream result, byte[] buffer) {
    try {
      return result.read(buffer);
    } catch (IOException e) {
      throw new CommandException(ExitCode.FAILURE, "cannot read the result: " + e.getMessage(), e);
    }
  }
}

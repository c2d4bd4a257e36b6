package io.millrace.cli.jobs;

import io.millrace.client.jobs.JobContext;
import io.millrace.client.jobs.JobFailedException;
import io.millrace.client.jobs.JobHandler;
import io.millrace.client.jobs.JobResult;
import io.millrace.processes.GuardedProcess;
import io.millrace.processes.Watchdog;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a command for each job, in a process session of its own. */
final class CommandHandler implements JobHandler {
  private static final Logger LOG = LoggerFactory.getLogger(CommandHandler.class);
  private static final int BUFFER_BYTES = 64 << 10;

  /**
   * How long to wait for standard error after the command has ended, since processes that it left
   * behind may keep it open.
   */
  private static final long DRAIN_SECONDS = 2;

  private final List<String> command;
  private final String type;
  private final Watchdog watchdog;

  CommandHandler(List<String> command, String type, Watchdog watchdog) {
    this.command = List.copyOf(command);
    this.type = type;
    this.watchdog = watchdog;
  }

  @Override
  public JobResult handle(InputStream payload, JobContext job)
      throws IOException, InterruptedException, JobFailedException {
    long begin = System.nanoTime();
    Output output = Output.create();
    boolean done = false;
    try {
      run(payload, job, output);
      done = true;
      return JobResult.of(output.content());
    } finally {
      if (!done) {
        output.close();
      }
      LOG.info(
          "job {} {} after {} ms",
          name(job),
          done ? "done" : job.isCancelled() ? "taken back" : "failed",
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
    }
  }

  private static String name(JobContext job) {
    return job.key().isEmpty() ? "without a key" : job.key();
  }

  private void run(InputStream payload, JobContext job, Output output)
      throws IOException, InterruptedException, JobFailedException {
    GuardedProcess process = start(job, output);
    boolean ended = false;
    try {
      CompletableFuture<@Nullable IOException> feeding = inBackground(() -> feed(payload, process));
      ErrorLines errors = new ErrorLines((percent, info) -> report(job, percent, info));
      CompletableFuture<@Nullable IOException> reading = inBackground(() -> read(errors, process));
      int code = process.waitFor();
      process.end();
      ended = true;
      await(reading);
      IOException broken = feeding.getNow(null);
      if (broken != null) {
        throw new JobFailedException("the payload cannot be read: " + broken, errors.logs());
      }
      if (code != 0) {
        String last = errors.lastLine().map(line -> ": " + line).orElse("");
        throw new JobFailedException("exit code " + code + last, errors.logs())
            .withCode(Integer.toString(code));
      }
    } finally {
      if (!ended) {
        process.end();
      }
    }
  }

  private GuardedProcess start(JobContext job, Output output) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder
        .environment()
        .putAll(
            Map.of(
                "MILLRACE_JOB_ID", job.id(),
                "MILLRACE_JOB_KEY", job.key().replace("\0", ""),
                "MILLRACE_JOB_TYPE", type,
                "MILLRACE_JOB_TOKEN", Long.toString(job.fencingToken())));
    builder.environment().putAll(job.trace());
    return output.begin(file ->
        GuardedProcess.start(builder.redirectOutput(file.toFile()), null, _ -> {}, watchdog));
  }

  private static CompletableFuture<@Nullable IOException> inBackground(Pump pump) {
    CompletableFuture<@Nullable IOException> end = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            pump.run();
            end.complete(null);
          } catch (IOException e) {
            end.complete(e);
          }
        });
    return end;
  }

  /** Copies bytes until the end of a stream. */
  @FunctionalInterface
  private interface Pump {
    void run() throws IOException;
  }

  /** Fails only if the payload cannot be read; the command need not read all of it. */
  private static void feed(InputStream payload, GuardedProcess process) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    OutputStream stdin = process.stdin();
    while (true) {
      int count;
      try {
        count = payload.read(buffer);
      } catch (IOException e) {
        // Before the input is closed, so that the command does not take a part for the whole.
        process.killAlone();
        throw e;
      }
      try {
        if (count < 0) {
          stdin.close();
          return;
        }
        stdin.write(buffer, 0, count);
      } catch (IOException e) {
        LOG.debug("the command reads no more", e);
        return;
      }
    }
  }

  private static void read(ErrorLines errors, GuardedProcess process) throws IOException {
    try (InputStream stderr = process.stderr()) {
      errors.read(stderr);
    }
  }

  private static void await(CompletableFuture<@Nullable IOException> reading)
      throws InterruptedException {
    try {
      var _ = reading.get(DRAIN_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException e) {
      LOG.debug("the standard error of a command goes on after its end", e);
    }
  }

  private static void report(JobContext job, @Nullable Double percent, @Nullable String info) {
    if (percent == null) {
      job.progress(info == null ? "" : info);
    } else if (info == null || info.isEmpty()) {
      job.progress(percent);
    } else {
      job.progress(percent, info);
    }
  }

  /**
   * Reads the standard error of a command: reports lines of progress, and keeps the last characters
   * of all other lines.
   */
  static final class ErrorLines {
    private static final Pattern PROGRESS = Pattern.compile("progress:\\s*(.*)");
    private static final Pattern PERCENT =
        Pattern.compile("(\\d{1,3}(?:\\.\\d{1,9})?)\\s*%?(?:\\s+(.*))?");

    /** The most characters of logs that a server keeps. */
    private static final int MAX_KEPT = 64_000;

    /** In bytes; a longer line counts as several. */
    private static final int LONGEST_LINE = 16 << 10;

    private final BiConsumer<@Nullable Double, @Nullable String> progress;
    private final StringBuilder kept = new StringBuilder();
    private String lastLine = "";

    /**
     * Nothing read yet.
     *
     * @param progress receives the percentage and the text of each line of progress; one of them
     *     may be null
     */
    ErrorLines(BiConsumer<@Nullable Double, @Nullable String> progress) {
      this.progress = progress;
    }

    /** Reads a stream to its end. */
    void read(InputStream stream) throws IOException {
      byte[] line = new byte[LONGEST_LINE];
      byte[] buffer = new byte[8 << 10];
      int length = 0;
      for (int count = stream.read(buffer); count >= 0; count = stream.read(buffer)) {
        for (int i = 0; i < count; i++) {
          if (buffer[i] == '\n' || length == line.length) {
            take(line, length);
            length = 0;
          }
          if (buffer[i] != '\n') {
            line[length++] = buffer[i];
          }
        }
      }
      if (length > 0) {
        take(line, length);
      }
    }

    private void take(byte[] bytes, int length) {
      String line = new String(bytes, 0, length, StandardCharsets.UTF_8);
      Matcher marked = PROGRESS.matcher(line.strip());
      if (marked.matches() && !marked.group(1).isEmpty()) {
        advance(marked.group(1));
      } else {
        keep(line);
      }
    }

    private void advance(String told) {
      Matcher form = PERCENT.matcher(told);
      if (form.matches() && Double.parseDouble(form.group(1)) <= 100) {
        progress.accept(Double.parseDouble(form.group(1)), form.group(2));
      } else {
        progress.accept(null, told);
      }
    }

    private synchronized void keep(String line) {
      kept.append(line).append('\n');
      if (kept.length() > 2 * MAX_KEPT) {
        kept.delete(0, kept.length() - MAX_KEPT);
      }
      if (!line.isBlank()) {
        lastLine = line.strip();
      }
    }

    /** The last lines that are not progress, up to 64,000 characters. */
    synchronized String logs() {
      return kept.substring(Math.max(0, kept.length() - MAX_KEPT));
    }

    /** The last line that is neither blank nor progress. */
    synchronized Optional<String> lastLine() {
      return lastLine.isEmpty() ? Optional.empty() : Optional.of(lastLine);
    }
  }

  /**
   * The file for the standard output of a command. It is deleted once the command has opened it, so
   * that the system frees it even if the worker is killed.
   */
  private static final class Output implements Closeable {
    private final Path file;
    private final FileChannel content;

    private Output(Path file, FileChannel content) {
      this.file = file;
      this.content = content;
    }

    /** Creates an empty file in the folder for temporary files. */
    static Output create() throws IOException {
      Path file = Files.createTempFile("millrace-job-", ".result");
      try {
        return new Output(file, FileChannel.open(file, StandardOpenOption.READ));
      } catch (IOException e) {
        Files.deleteIfExists(file);
        throw e;
      }
    }

    /** Starts a process that writes to a file. */
    @FunctionalInterface
    interface Start<T> {
      T with(Path file) throws IOException;
    }

    /** Starts the command, which opens the file, and deletes the name of the file. */
    <T> T begin(Start<T> start) throws IOException {
      try {
        return start.with(file);
      } finally {
        Files.deleteIfExists(file);
      }
    }

    /** The output, from its beginning; the caller closes it. */
    FileChannel content() {
      return content;
    }

    @Override
    public void close() throws IOException {
      content.close();
    }
  }
}

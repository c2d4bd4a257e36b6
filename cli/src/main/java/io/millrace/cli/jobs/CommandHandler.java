package io.millrace.cli.jobs;

import io.millrace.client.jobs.JobContext;
import io.millrace.client.jobs.JobFailedException;
import io.millrace.client.jobs.JobHandler;
import io.millrace.client.jobs.JobResult;
import io.millrace.processes.GuardedProcess;
import io.millrace.processes.Watchdog;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a command for each job, in a session of its own. */
final class CommandHandler implements JobHandler {
  private static final Logger LOG = LoggerFactory.getLogger(CommandHandler.class);
  private static final int BUFFER_BYTES = 64 << 10;

  /** How long what the command left behind may hold its standard error open. */
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
        throw new JobFailedException("exit code " + code + last, errors.logs());
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

  /** Moves bytes. */
  @FunctionalInterface
  private interface Pump {
    void run() throws IOException;
  }

  /** Fails only for the payload's sake: a command need not read all of it. */
  private static void feed(InputStream payload, GuardedProcess process) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    OutputStream stdin = process.stdin();
    while (true) {
      int count;
      try {
        count = payload.read(buffer);
      } catch (IOException e) {
        // Before its input ends: it must not take a part for the whole.
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
}

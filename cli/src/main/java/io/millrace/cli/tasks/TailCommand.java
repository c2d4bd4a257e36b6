package io.millrace.cli.tasks;

import io.millrace.cli.remote.Retries;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.JsonCalls;
import io.millrace.client.UnreachableException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Follows the output of a task. */
@Command(
    name = "tail",
    description =
        "Prints the stdout and stderr of a task as they are written, until the task has ended; the"
            + " exit code says how.")
final class TailCommand extends ServerCommand implements Callable<Integer> {
  private static final long PAUSE_MILLIS = 500;

  @Parameters(paramLabel = "ID", description = "The id of the task.")
  private String id = "";

  @Option(names = "--stdout", description = "Only stdout.")
  private boolean stdoutOnly;

  @Option(names = "--stderr", description = "Only stderr.")
  private boolean stderrOnly;

  @Option(
      names = "--no-follow",
      description = "Prints what has been written so far, and exits with 0.")
  private boolean noFollow;

  @Override
  public Integer call() {
    return run(calls -> {
      TaskCalls.find(calls, TaskCalls.Ids.checked(id));
      List<OutputFollower> followers = new ArrayList<>();
      if (!stderrOnly || stdoutOnly) {
        followers.add(new OutputFollower(calls, path("stdout"), out()));
      }
      if (!stdoutOnly || stderrOnly) {
        followers.add(new OutputFollower(calls, path("stderr"), terminal().err()));
      }
      while (true) {
        follow(followers);
        if (noFollow) {
          return ExitCode.OK;
        }
        int status = TaskCalls.find(calls, id).path("status").asInt();
        if (TaskWaiter.isEnd(status)) {
          return TaskWaiter.exitCode(status);
        }
        // The output had ended, so the task had ended and has been queued again.
        Thread.sleep(PAUSE_MILLIS);
      }
    });
  }

  private String path(String stream) {
    return TaskCalls.path(id) + "/" + stream + "?follow=" + !noFollow + "&offset=";
  }

  private static void follow(List<OutputFollower> followers) {
    Executor threads = Thread::startVirtualThread;
    List<CompletableFuture<Void>> running =
        followers.stream().map(one -> CompletableFuture.runAsync(one, threads)).toList();
    try {
      running.forEach(CompletableFuture::join);
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /**
   * Copies one output of a task as it is written. Reconnects at the same offset if the connection
   * breaks.
   */
  private static final class OutputFollower implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(OutputFollower.class);
    private static final Duration SILENCE = Duration.ofSeconds(60);

    private final JsonCalls calls;
    private final String path;
    private final PrintStream to;
    private long offset;
    private final Retries retries = new Retries();

    /**
     * Nothing read yet.
     *
     * @param path the path of the output, up to the offset
     */
    OutputFollower(JsonCalls calls, String path, PrintStream to) {
      this.calls = calls;
      this.path = path;
      this.to = to;
    }

    /** Writes until the end of the output. */
    @Override
    public void run() {
      while (!wholeRest()) {
        LOG.debug("going on at {} of {}", offset, path);
      }
    }

    private boolean wholeRest() {
      try (InputStream in = calls.stream(path + offset, SILENCE)) {
        byte[] buffer = new byte[1 << 13];
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
          to.write(buffer, 0, read);
          to.flush();
          offset += read;
          retries.succeeded();
        }
        return true;
      } catch (SocketTimeoutException _) {
        // No output for a long time: reconnect, which is not a failure.
        retries.succeeded();
      } catch (IOException e) {
        again(
            new UnreachableException(
                "the connection of the output was lost: " + e.getMessage(), e));
      } catch (UnreachableException | StoreClosedException e) {
        // The server may be back soon.
        again(e);
      }
      return false;
    }

    private void again(StoreException failure) {
      try {
        retries.pause(failure);
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        throw failure;
      }
    }
  }
}

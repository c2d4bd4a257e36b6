package io.millrace.cli.tasks;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Follows the output of a task. */
@Command(
    name = "tail",
    description =
        "Writes a task's stdout and stderr, as they come, to the same streams here, until it has"
            + " ended; exits by how it did.")
final class TailCommand extends RemoteCommand {
  private static final long PAUSE_MILLIS = 500;

  @Parameters(paramLabel = "ID", description = "The task's id.")
  private String id = "";

  @Option(names = "--stdout", description = "Only stdout.")
  private boolean stdoutOnly;

  @Option(names = "--stderr", description = "Only stderr.")
  private boolean stderrOnly;

  @Option(names = "--no-follow", description = "Writes what is there now and ends; exits with 0.")
  private boolean noFollow;

  TailCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws InterruptedException {
    TaskCalls.find(calls, IdArguments.checked(id));
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
      if (Ends.isEnd(status)) {
        return Ends.exitCode(status);
      }
      // Its output had an end, so the task had ended, and it is queued again.
      Thread.sleep(PAUSE_MILLIS);
    }
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
}

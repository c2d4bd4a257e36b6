package io.millrace.queues.runner;

import io.millrace.queues.Status;
import io.millrace.queues.plugin.Plugin;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** An object in this process at work, on a thread of its own. */
final class PluginWork implements Work {
  private final InProcessTask task;
  private final Thread thread;
  private final LastWords lastWords;
  private final CompletableFuture<Result> result = new CompletableFuture<>();

  private PluginWork(Plugin plugin, InProcessTask task, LastWords lastWords) {
    this.task = task;
    this.lastWords = lastWords;
    this.thread = Thread.ofPlatform().name("plugin").daemon().unstarted(() -> run(plugin));
  }

  static PluginWork start(Plugin plugin, InProcessTask task, LastWords lastWords) {
    PluginWork work = new PluginWork(plugin, task, lastWords);
    work.thread.setContextClassLoader(plugin.getClass().getClassLoader());
    work.thread.start();
    return work;
  }

  private void run(Plugin plugin) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    System.setOut(printing(task.stdout()));
    System.setErr(printing(task.stderr()));
    Result end;
    try {
      int status = plugin.run(task);
      end =
          Status.isFinished(status)
              ? new Result(status, null, null)
              : Result.failed("the plugin returned " + status + ", which is no positive integer");
    } catch (Throwable e) {
      // Whatever a plugin throws is its failure, errors of its class path included.
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      end = Result.failed(trace.toString());
    } finally {
      System.out.flush();
      System.err.flush();
      System.setOut(out);
      System.setErr(err);
    }
    result.complete(end);
  }

  private static PrintStream printing(OutputStream target) {
    return new PrintStream(target, true, StandardCharsets.UTF_8);
  }

  @Override
  public Result await() throws InterruptedException {
    try {
      return result.get();
    } catch (ExecutionException e) {
      throw new AssertionError("it is never completed so", e);
    }
  }

  @Override
  public void terminate() {
    task.cancel();
    thread.interrupt();
  }

  @Override
  public void kill() {
    if (!result.isDone()) {
      // A thread cannot be ended from outside, its process can.
      lastWords.say("the plugin did not end when it was told to, so its runner was killed");
    }
  }
}

package io.millrace.queues.runner;

import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.Plugin;
import io.millrace.queues.plugin.PluginTask;
import io.millrace.work.policy.RetryPolicy.Failed;
import io.millrace.work.trace.TraceContext;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * An object in this process at work, on a thread of its own.
 *
 * <p>Threads that it leaves behind would write into the output of a later task: whatever they hold
 * of this task's output is closed, and {@link #leavesThreads} tells that no other task may run in
 * this process. Virtual threads cannot be found; they and their children know the task that began
 * them, and what they print to {@code System.out} during another task is dropped.
 */
final class PluginWork implements Work {
  private static final Logger LOG = LoggerFactory.getLogger(PluginWork.class);

  /** How long the threads of a plugin have to end after it has returned. */
  static final Duration LINGER = Duration.ofMillis(100);

  private static final long PAUSE_NANOS = 2_000_000;

  /** The task that has begun a thread, or that thread's ancestor. */
  private static final InheritableThreadLocal<InProcessTask> BEGINNER =
      new InheritableThreadLocal<>();

  private final InProcessTask task;
  private final Thread thread;
  private final RunnerContext.Tools tools;
  private final CompletableFuture<Result> result = new CompletableFuture<>();
  private volatile boolean leavesThreads;

  private PluginWork(Plugin plugin, InProcessTask task, RunnerContext.Tools tools) {
    this.task = task;
    this.tools = tools;
    this.thread =
        Thread.ofPlatform()
            .group(task.threads())
            .name("plugin")
            .daemon()
            .unstarted(() -> run(plugin));
  }

  static PluginWork start(Plugin plugin, InProcessTask task, RunnerContext.Tools tools) {
    PluginWork work = new PluginWork(plugin, task, tools);
    work.thread.setContextClassLoader(plugin.getClass().getClassLoader());
    work.thread.start();
    return work;
  }

  private void run(Plugin plugin) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    BEGINNER.set(task);
    System.setOut(printing(task.stdout()));
    System.setErr(printing(task.stderr()));
    Result end;
    try {
      int status = plugin.run(task);
      end =
          Status.isFinished(status) || task.wish() instanceof RetryWish.Snooze
              ? new Result(
                  Status.isFinished(status) ? status : Status.FAILED, null, null, task.wish())
              : Result.failed("the plugin returned " + status + ", which is no positive integer");
    } catch (Throwable e) {
      // Whatever a plugin throws is its failure, errors of its class path included.
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      Failed failed = new Failed(e.getClass().getSimpleName(), task.retryAfter());
      end = new Result(Status.FAILED, null, trace.toString(), new RetryWish.IfFailed(failed));
    }
    try {
      leavesThreads = !endThreads();
      System.out.flush();
      System.err.flush();
      task.closeOutput();
    } catch (IOException e) {
      throw new AssertionError("closing the output of a task does nothing that fails", e);
    } finally {
      System.setOut(out);
      System.setErr(err);
      result.complete(end);
    }
  }

  /**
   * Waits a moment for the plugin's other threads and then interrupts them; whether none is left.
   */
  private boolean endThreads() {
    long deadline = System.nanoTime() + tools.linger().toNanos();
    try {
      for (Thread other : otherThreads()) {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left > 0) {
          other.join(left);
        }
      }
    } catch (InterruptedException e) {
      // The task is to end, and so it does.
    }
    List<Thread> left = otherThreads();
    left.forEach(Thread::interrupt);
    boolean idle = ForkJoinPool.commonPool().isQuiescent();
    while (!idle && System.nanoTime() < deadline) {
      // Not awaitQuiescence: that may carry out what the plugin has left, and not come back.
      LockSupport.parkNanos(PAUSE_NANOS);
      idle = ForkJoinPool.commonPool().isQuiescent();
    }
    if (!left.isEmpty()) {
      LOG.info("task {} leaves the threads {}, so this runner ends after it", task.id(), left);
    } else if (!idle) {
      LOG.info("task {} leaves work in the common pool, so this runner ends after it", task.id());
    }
    return left.isEmpty() && idle;
  }

  private List<Thread> otherThreads() {
    Thread[] found = new Thread[task.threads().activeCount() + 16];
    task.threads().enumerate(found);
    return Arrays.stream(found)
        .filter(Objects::nonNull)
        .filter(other -> !other.equals(Thread.currentThread()))
        .toList();
  }

  private PrintStream printing(OutputStream target) {
    OutputStream own =
        new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
          }

          @Override
          public void write(byte[] bytes, int offset, int length) throws IOException {
            InProcessTask beginner = BEGINNER.get();
            if (beginner == null || beginner == task) {
              target.write(bytes, offset, length);
            }
          }
        };
    return new PrintStream(own, true, StandardCharsets.UTF_8);
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
  public boolean leavesThreads() {
    return leavesThreads;
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
      tools.hardExit().end("the plugin did not end when it was told to, so its runner was killed");
    }
  }

  /** A task as a plugin in this process sees it. */
  static final class InProcessTask implements PluginTask {
    private final RunTask task;
    private final OutputStream stdout;
    private final OutputStream stderr;
    private final List<Runnable> actions = new ArrayList<>();

    /** The plugin's thread and those that it begins. */
    private final ThreadGroup threads = new ThreadGroup("plugin");

    private volatile boolean cancelled;
    private volatile RetryWish wish = RetryWish.NONE;

    InProcessTask(RunTask task) {
      this.task = task;
      long most = task.assignment().limits().maxBytes();
      this.stdout = task.outputs().stdout().stream(most);
      this.stderr = task.outputs().stderr().stream(most);
    }

    @Override
    public String id() {
      return task.assignment().task().hex();
    }

    @Override
    public String queue() {
      return task.assignment().run().queue().hex();
    }

    @Override
    public String node() {
      return task.assignment().run().node();
    }

    @Override
    public long token() {
      return task.assignment().run().claim().token();
    }

    @Override
    public ObjectNode params() {
      return task.params().deepCopy();
    }

    @Override
    public Map<String, String> trace() {
      TraceContext span = task.span();
      return span == null ? Map.of() : span.environment();
    }

    @Override
    public Optional<ScheduledTime> scheduled() {
      return Optional.ofNullable(task.scheduled())
          .map(run ->
              new ScheduledTime(
                  run.name(),
                  Instant.ofEpochMilli(run.nominalMillis()),
                  Instant.ofEpochMilli(run.startedMillis())));
    }

    @Override
    public Path folder() {
      return task.folder().work();
    }

    @Override
    public OutputStream stdout() {
      return stdout;
    }

    @Override
    public OutputStream stderr() {
      return stderr;
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public void onCancel(Runnable action) {
      synchronized (actions) {
        if (!cancelled) {
          actions.add(action);
          return;
        }
      }
      action.run();
    }

    @Override
    public void retryAfter(Duration delay) {
      wish = new RetryWish.IfFailed(new Failed(null, delay));
    }

    @Override
    public void snooze(Duration delay) {
      wish = new RetryWish.Snooze(delay);
    }

    RetryWish wish() {
      return wish;
    }

    /** The pause that it asks for if it fails; null for none. */
    @Nullable Duration retryAfter() {
      return wish instanceof RetryWish.IfFailed(Failed failed) ? failed.delay() : null;
    }

    ThreadGroup threads() {
      return threads;
    }

    /** Its output is complete: what is written from now on is dropped. */
    void closeOutput() throws IOException {
      stdout.close();
      stderr.close();
    }

    void cancel() {
      List<Runnable> due;
      synchronized (actions) {
        cancelled = true;
        due = List.copyOf(actions);
        actions.clear();
      }
      due.forEach(
          action -> Thread.ofPlatform().group(threads).name("cancel").daemon().start(action));
    }
  }
}

package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.processes.PrivateFiles;
import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessIdentity;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.RunningProcess;
import io.millrace.processes.Watchdog;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.plugin.Plugins;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.runner.RunnerContext.Schedule;
import io.millrace.queues.runner.TaskFolder.WorkFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The main program of a task runner. It runs one task, or one after the other, for the node that
 * started it or its successors. It ends after its task if it was started for one, when a plugin has
 * left threads behind in it, when the node no longer needs it, or when it is idle and has had no
 * node for {@link #PATIENCE}.
 */
public final class RunnerProgram {
  /** How long an idle runner waits for a node: 3 seconds, so that it is gone after 5. */
  public static final Duration PATIENCE = Duration.ofSeconds(3);

  private static final Logger LOG = LoggerFactory.getLogger(RunnerProgram.class);
  private static final Duration LOOK_EVERY = Duration.ofSeconds(3);
  private static final Duration IDLE = Duration.ofSeconds(1);
  private static final Duration GRACE = Duration.ofSeconds(5);
  private static final int ENDED_ITSELF = 3;

  private final Queue<TaskRun> waiting = new ArrayDeque<>();
  private final RunnerContext context;
  private final Consumer<List<String>> move;
  private final NodeLink link;
  private @Nullable TaskRun current;
  private boolean quit;
  private boolean direct;

  private RunnerProgram(RunnerContext context, Consumer<List<String>> move, Path socket) {
    this.context = context;
    this.move = move;
    String name = context.folder().runner().getFileName().toString();
    this.link = new NodeLink(socket, name, context.identity(), this::hear);
  }

  /**
   * Works until the end.
   *
   * @param socket the socket of the node
   * @param folder the folder in which the node has started this process
   * @param address the first address of the server
   * @param connector connects to an address, the first one or a later one
   * @throws RuntimeException if {@code connector} does not accept {@code address}
   */
  public static void run(Path socket, Path folder, List<String> address, Connector connector)
      throws InterruptedException {
    try (MovingServer store = new MovingServer(connector, address)) {
      Queues queues = Queues.in(store, InstantSource.system(), new SecureRandom());
      run(socket, folder, new RunnerContext.Server(queues, store::blobs), store::moveTo);
    }
  }

  /**
   * The same for queues that the runner reaches by itself, wherever its node is.
   *
   * @param queues where it begins, renews and ends runs
   * @param blobs takes output until the end of a run is stored
   */
  public static void run(Path socket, Path folder, QueueBackend queues, BlobStore blobs)
      throws InterruptedException {
    run(socket, folder, new RunnerContext.Server(queues, () -> blobs), _ -> {});
  }

  private static void run(
      Path socket, Path folder, RunnerContext.Server server, Consumer<List<String>> move)
      throws InterruptedException {
    ProcessLauncher launcher = ProcessLauncher.create();
    ProcessIdentity identity = self(launcher, folder);
    TaskFolder files = new TaskFolder(folder.toAbsolutePath().normalize());
    try (Watchdog watchdog = new Watchdog(launcher, groupOf(identity));
        Schedule schedule = Schedule.create();
        Plugins plugins = new Plugins(files.classes())) {
      RunnerContext.Tools tools =
          new RunnerContext.Tools(
              launcher,
              watchdog,
              schedule,
              plugins,
              reason -> endAtOnce(files, reason),
              PluginWork.LINGER);
      RunnerContext context =
          new RunnerContext(
              server, identity, tools, files, new WorkFolder(files, watchdog::emptyUnlessOpen));
      new RunnerProgram(context, move, socket).work();
    }
  }

  /** The process that the node has started, which may have started this one. */
  private static ProcessIdentity self(ProcessLauncher launcher, Path folder) {
    Optional<ProcessIdentity> started = launcher.find(folder).map(RunningProcess::identity);
    return started
        .or(() -> launcher.identify(ProcessHandle.current().pid()))
        .orElseThrow(() -> new IllegalStateException("this process cannot be identified"));
  }

  /** The process group that ends with this process, if it was made for it. */
  private static @Nullable Long groupOf(ProcessIdentity identity) {
    return identity.pid() == ProcessHandle.current().pid() ? identity.pid() : null;
  }

  private static void endAtOnce(TaskFolder files, String reason) {
    try {
      PrivateFiles.write(files.lastWords(), reason.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      LOG.warn("the last words are lost: {}", reason);
    }
    Runtime.getRuntime().halt(ENDED_ITSELF);
  }

  private void work() throws InterruptedException {
    link.open();
    var looking =
        Schedule.repeat(context.tools().schedule().renewal(), this::lookForStop, LOOK_EVERY);
    try {
      for (TaskRun run = next(); run != null; run = next()) {
        ObjectId task = run.assignment().task();
        run.carryOut();
        done();
        boolean last = !run.assignment().terms().again() || run.leavesThreads();
        link.ended(task, last);
        if (last) {
          return;
        }
        startDirectly();
      }
    } finally {
      looking.cancel(false);
      link.close();
    }
  }

  /** The next task; null if there is none. */
  private synchronized @Nullable TaskRun next() throws InterruptedException {
    long since = System.nanoTime();
    while (waiting.isEmpty()) {
      if (link.awayNanos() == 0 && System.nanoTime() - since > IDLE.toNanos()) {
        startDirectly();
      }
      long left = PATIENCE.toNanos() - link.awayNanos();
      if (quit || left <= 0) {
        return null;
      }
      TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, TimeUnit.SECONDS.toNanos(1) / 4));
    }
    TaskRun run = waiting.remove();
    current = run;
    link.working(run.assignment().task());
    return run;
  }

  /**
   * Prepares a runner that stays for more than one task to start programs itself; for a single task
   * that would cost too much.
   */
  private void startDirectly() {
    if (direct) {
      return;
    }
    direct = true;
    try {
      context.folder().recordSession();
      context.tools().watchdog().startDirectly();
    } catch (IOException | ProcessException e) {
      LOG.debug("programs are started by way of a shell", e);
    }
  }

  private synchronized void done() {
    current = null;
  }

  private synchronized void hear(Messages message) {
    switch (message) {
      case Messages.Assign(Assignment assignment) -> {
        TaskRun now = current;
        // A node that came back repeats messages that may be lost.
        boolean known =
            (now != null && now.assignment().isSameRun(assignment.run()))
                || waiting.stream()
                    .anyMatch(other -> other.assignment().isSameRun(assignment.run()));
        if (!known) {
          waiting.add(new TaskRun(assignment, context, link::holds));
        }
      }
      case Messages.Stop(ObjectId task, Duration grace) -> {
        TaskRun now = current;
        if (now != null && now.assignment().task().equals(task)) {
          now.stop(grace);
        }
        for (TaskRun run : waiting) {
          if (run.assignment().task().equals(task)) {
            run.stop(grace);
          }
        }
      }
      case Messages.Server(List<String> arguments) -> move.accept(arguments);
      case Messages.Quit() -> quit = true;
      case Messages.Hello _, Messages.Ended _, Messages.Holds _ ->
          LOG.warn("a node says {}", message);
    }
    notifyAll();
  }

  /** Reads requests of operators from the store while there is no node to pass them on. */
  private void lookForStop() {
    TaskRun now;
    synchronized (this) {
      now = current;
    }
    if (now == null || link.awayNanos() == 0) {
      return;
    }
    try {
      if (context.server().queues().runs().isToStop(now.assignment().task())) {
        now.stop(GRACE);
      }
    } catch (RuntimeException e) {
      LOG.debug("the server is away", e);
    }
  }
}

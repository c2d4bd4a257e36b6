package io.millrace.queues.runner;

import io.millrace.processes.ExitStatus;
import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.ProcessSpec;
import io.millrace.processes.RunningProcess;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Run;
import io.millrace.queues.node.RunnerException;
import io.millrace.queues.node.Runners;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runners that are processes of this machine. They outlive the node; everything about each is in a
 * folder of its own, where the next start of the node finds it. Safe for use by any number of
 * threads.
 */
public final class LocalRunners implements Runners {
  private static final Logger LOG = LoggerFactory.getLogger(LocalRunners.class);

  /** How long the record of a runner's end may take after the end itself. */
  private static final long RECORD_MILLIS = 500;

  private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);
  private static final String SILENT =
      "its runner said nothing until its claim was about to end, so it was killed";

  private static final Executor VIRTUAL =
      task -> Thread.ofVirtual().name("runner-spare").start(task);

  private final LocalRunnersOptions options;
  private final ProcessLauncher launcher;
  private final Path socketPath;
  private final Pool pool;
  private @Nullable Listener listener;
  private @Nullable RunnerSocket socket;
  private @Nullable Thread watching;

  private LocalRunners(LocalRunnersOptions options, ProcessLauncher launcher, Path socketPath) {
    this.options = options;
    this.launcher = launcher;
    this.socketPath = socketPath;
    this.pool = new Pool(options.warm().idle());
  }

  /**
   * Makes ready; {@link #recover} begins.
   *
   * @throws ProcessException when this machine lacks what is needed to start processes
   * @throws UncheckedIOException when the folder cannot be made
   */
  public static LocalRunners create(LocalRunnersOptions options) {
    try {
      Files.createDirectories(options.folder());
      Files.setPosixFilePermissions(options.folder(), SocketPath.OWNER);
      return new LocalRunners(options, ProcessLauncher.create(), SocketPath.in(options.folder()));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the folder of runners " + options.folder() + " cannot be used: " + e, e);
    }
  }

  @Override
  public synchronized Set<ObjectId> recover(Collection<Run> runs, Listener watcher) {
    listener = watcher;
    Set<ObjectId> found = new HashSet<>();
    for (TaskFolder folder : folders()) {
      adopt(folder, runs).map(Slot::assignment).map(Assignment::task).ifPresent(found::add);
    }
    try {
      socket = RunnerSocket.listen(socketPath, new Conversation());
    } catch (IOException e) {
      throw new UncheckedIOException("the socket " + socketPath + " cannot be made: " + e, e);
    }
    Duration often = options.lease().dividedBy(100);
    watching =
        Thread.ofVirtual()
            .name("runners-frozen")
            .start(() -> watch(often.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : often));
    return found;
  }

  /**
   * Kills runners that do not stop their work although their claims are about to end, since
   * somebody has stopped them: their slots become free then. Their watchdogs and {@link #bury} end
   * the rest.
   */
  private void watch(Duration pause) {
    try {
      while (true) {
        Thread.sleep(pause);
        frozen().forEach(this::kill);
      }
    } catch (InterruptedException e) {
      LOG.trace("closed", e);
    }
  }

  private synchronized List<Slot> frozen() {
    return pool.frozen();
  }

  private void kill(Slot slot) {
    LOG.warn("the runner in {} is silent and is killed", slot.folder().runner());
    try {
      Files.writeString(slot.folder().lastWords(), SILENT);
      launcher.killGroup(slot.process().identity());
    } catch (IOException | ProcessException e) {
      LOG.warn("the runner in {} cannot be killed: {}", slot.folder().runner(), e.toString());
    }
  }

  private List<TaskFolder> folders() {
    try (Stream<Path> entries = Files.list(options.folder())) {
      return entries.filter(Files::isDirectory).sorted().map(TaskFolder::new).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Optional<Slot> adopt(TaskFolder folder, Collection<Run> runs) {
    Optional<RunningProcess> process = find(folder);
    if (process.filter(alive -> launcher.isAlive(alive.identity())).isEmpty()) {
      bury(folder, process);
      return Optional.empty();
    }
    Slot slot = new Slot(folder, process.get(), List.of());
    slot.meet();
    Slot.recorded(folder)
        .filter(assignment -> runs.stream().anyMatch(assignment::isSameRun))
        .ifPresentOrElse(slot::expect, slot::relieve);
    admit(slot);
    return Optional.of(slot);
  }

  private Optional<RunningProcess> find(TaskFolder folder) {
    try {
      return launcher.find(folder.runner());
    } catch (ProcessException e) {
      LOG.warn("the runner of {} cannot be found again: {}", folder.runner(), e.getMessage());
      return Optional.empty();
    }
  }

  /** Ends what is left of a dead runner and its task, and removes its folder. */
  private void bury(TaskFolder folder, Optional<RunningProcess> process) {
    folder.leader().ifPresent(launcher::killGroup);
    process.map(RunningProcess::identity).ifPresent(launcher::killGroup);
    TaskFolder.remove(folder.runner());
  }

  private void admit(Slot slot) {
    pool.add(slot);
    var _ =
        slot.process()
            .onExit()
            .thenRun(() -> Thread.ofVirtual().name("runner-end").start(() -> gone(slot)));
  }

  @Override
  public synchronized boolean offer(Run run, String plugin, NodeConfig config) {
    List<String> command = options.command().with(config.taskRunner());
    Assignment assignment = assignment(run, plugin, config);
    if (assign(command, assignment)) {
      return true;
    }
    if (pool.hasAsManyAsKept(command)) {
      return false;
    }
    start(command, assignment);
    return true;
  }

  @Override
  public synchronized void begin(Run run, String plugin, NodeConfig config) {
    List<String> command = options.command().with(config.taskRunner());
    Assignment assignment = assignment(run, plugin, config);
    if (!assign(command, assignment)) {
      start(command, assignment);
    }
  }

  private Assignment assignment(Run run, String plugin, NodeConfig config) {
    boolean again = options.warm().idle() > 0;
    Assignment.Terms terms = new Assignment.Terms(options.plugins(), options.lease(), again);
    return new Assignment(run, plugin, config.output(), terms);
  }

  private boolean assign(List<String> command, Assignment assignment) {
    return pool.idle(command).stream().anyMatch(slot -> assign(slot, assignment));
  }

  private static boolean assign(Slot slot, Assignment assignment) {
    try {
      Slot.record(slot.folder(), assignment);
    } catch (IOException e) {
      throw new RunnerException("a task cannot be put on file: " + e, e);
    }
    slot.expect(assignment);
    if (slot.say(new Messages.Assign(assignment))) {
      return true;
    }
    slot.relieve();
    return false;
  }

  private void start(List<String> command, Assignment assignment) {
    TaskFolder folder = new TaskFolder(options.folder().resolve(UUID.randomUUID().toString()));
    List<String> whole = new ArrayList<>(command);
    whole.addAll(List.of("--socket", socketPath.toString()));
    whole.addAll(List.of("--folder", folder.runner().toString()));
    try {
      Files.createDirectory(folder.runner());
      Slot.record(folder, assignment);
      RunningProcess process = launcher.start(ProcessSpec.of(whole, folder.runner()));
      Slot slot = new Slot(folder, process, command);
      slot.expect(assignment);
      admit(slot);
    } catch (IOException | ProcessException | IllegalArgumentException e) {
      TaskFolder.remove(folder.runner());
      throw new RunnerException("a runner cannot be started: " + e.getMessage(), e);
    }
  }

  @Override
  public synchronized void stop(ObjectId task, Duration grace) {
    pool.with(task).ifPresent(slot -> slot.stop(grace));
  }

  /** The process of a runner has ended. */
  private void gone(Slot slot) {
    Assignment assignment;
    Listener watcher;
    synchronized (this) {
      watcher = listener;
      if (watcher == null || !pool.remove(slot)) {
        return;
      }
      assignment = slot.assignment();
    }
    String reason = Obituary.of(slot.process(), slot.folder());
    bury(slot.folder(), Optional.of(slot.process()));
    if (assignment == null) {
      return;
    }
    if (slot.met()) {
      watcher.lost(assignment.task(), reason);
    } else {
      watcher.notStarted(assignment.task(), reason);
    }
  }

  /** What runners say. */
  private final class Conversation implements RunnerSocket.Listener {
    @Override
    public boolean connected(Messages.Hello hello, Lines lines) {
      synchronized (LocalRunners.this) {
        Slot slot = pool.find(hello.name());
        if (slot == null || !slot.process().identity().toString().equals(hello.identity())) {
          return false;
        }
        slot.connect(lines, hello.task());
        keepOrDismiss(slot);
        return true;
      }
    }

    @Override
    public void said(String name, Messages message) {
      switch (message) {
        case Messages.Ended(ObjectId task) -> ended(name, task);
        case Messages.Holds(ObjectId task, Duration left) -> {
          synchronized (LocalRunners.this) {
            pool.with(task)
                .filter(slot -> slot.name().equals(name))
                .ifPresent(it -> it.holds(left));
          }
        }
        case Messages.Hello _, Messages.Assign _, Messages.Stop _, Messages.Quit _ ->
            LOG.warn("the runner {} says {}", name, message);
      }
    }

    private void ended(String name, ObjectId task) {
      Listener watcher;
      synchronized (LocalRunners.this) {
        watcher = listener;
        Slot slot = pool.find(name);
        if (watcher == null || slot == null || !slot.has(task)) {
          return;
        }
        slot.relieve();
        keepOrDismiss(slot);
      }
      watcher.ended(task);
    }

    @Override
    public void disconnected(String name, Lines lines) {
      Slot slot;
      synchronized (LocalRunners.this) {
        slot = pool.find(name);
        if (slot == null) {
          return;
        }
        slot.disconnect(lines);
      }
      // A connection ends with its process, whose end is noticed late after a restart of the node.
      if (!launcher.isAlive(slot.process().identity())) {
        var _ =
            slot.process()
                .onExit()
                .completeOnTimeout(new ExitStatus.Unknown(), RECORD_MILLIS, TimeUnit.MILLISECONDS)
                .thenRun(() -> Thread.ofVirtual().name("runner-end").start(() -> gone(slot)));
      }
    }
  }

  /** A runner may have become idle. One too many goes when nobody needs it for a while. */
  private void keepOrDismiss(Slot slot) {
    if (!slot.isIdle()) {
      return;
    }
    if (pool.isUseless(slot)) {
      slot.dismiss();
    } else if (pool.hasTooManyIdle()) {
      int turn = slot.turns();
      CompletableFuture.delayedExecutor(
              options.warm().linger().toNanos(), TimeUnit.NANOSECONDS, VIRTUAL)
          .execute(() -> dismissIfUnneeded(slot, turn));
    }
  }

  private synchronized void dismissIfUnneeded(Slot slot, int turn) {
    if (slot.isIdle() && slot.turns() == turn && pool.hasTooManyIdle()) {
      slot.dismiss();
    }
  }

  @Override
  public void close() {
    RunnerSocket open;
    synchronized (this) {
      listener = null;
      open = socket;
      if (watching != null) {
        watching.interrupt();
      }
      pool.dismissIdle();
    }
    if (open != null) {
      open.close();
    }
  }
}

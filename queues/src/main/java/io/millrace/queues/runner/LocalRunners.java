package io.millrace.queues.runner;

import io.millrace.processes.PrivateFiles;
import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.ProcessSpec;
import io.millrace.processes.RunningProcess;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Run;
import io.millrace.queues.node.RunnerException;
import io.millrace.queues.node.Runners;
import io.millrace.store.environment.Environment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Runners that are processes of this machine. They outlive the node; everything about each is in a
 * folder of its own, where the next start of the node finds it, and tells it where the server is
 * now. Safe for use by any number of threads.
 */
public final class LocalRunners implements Runners {
  private final LocalRunnersOptions options;
  private final ProcessLauncher launcher;
  private final Path socketPath;
  private final ScheduledExecutorService clock = Schedule.single("runners-clock");
  private final Crew crew;
  private @Nullable RunnerSocket socket;

  private LocalRunners(LocalRunnersOptions options, ProcessLauncher launcher, Path socketPath) {
    this.options = options;
    this.launcher = launcher;
    this.socketPath = socketPath;
    this.crew = new Crew(options, launcher, clock);
  }

  /**
   * Makes ready; {@link #recover} begins.
   *
   * @throws ProcessException when this machine lacks what is needed to start processes
   * @throws UncheckedIOException when the folder cannot be made
   */
  public static LocalRunners create(LocalRunnersOptions options) {
    try {
      Environment.system().disk().makeFolders(options.folder());
      Files.setPosixFilePermissions(options.folder(), SocketPath.OWNER);
      return new LocalRunners(options, ProcessLauncher.create(), SocketPath.in(options.folder()));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the folder of runners " + options.folder() + " cannot be used: " + e, e);
    }
  }

  @Override
  public synchronized Set<ObjectId> recover(Collection<Run> runs, Listener watcher) {
    crew.tell(watcher);
    Set<ObjectId> found = new HashSet<>();
    for (Slot slot : new Survivors(options.folder(), launcher).find(runs)) {
      Assignment assignment = slot.assignment();
      if (assignment != null) {
        found.add(assignment.task());
      }
      crew.admit(() -> slot);
    }
    try {
      socket = RunnerSocket.listen(socketPath, crew);
    } catch (IOException e) {
      throw new UncheckedIOException("the socket " + socketPath + " cannot be made: " + e, e);
    }
    new FrozenWatch(crew, launcher).begin(clock, options.lease());
    return found;
  }

  @Override
  public synchronized boolean offer(Run run, String plugin, NodeConfig config) {
    List<String> command = options.command().with(config.taskRunner());
    Assignment assignment = assignment(run, plugin, config);
    if (crew.assign(command, assignment)) {
      return true;
    }
    if (crew.hasAsManyAsKept(command)) {
      return false;
    }
    crew.admit(() -> start(command, assignment));
    return true;
  }

  @Override
  public synchronized void begin(Run run, String plugin, NodeConfig config) {
    List<String> command = options.command().with(config.taskRunner());
    Assignment assignment = assignment(run, plugin, config);
    if (!crew.assign(command, assignment)) {
      crew.admit(() -> start(command, assignment));
    }
  }

  @Override
  public int starting() {
    // A run waits for a warm runner before one is started: that must not hold back the others.
    return options.warm().idle() > 0 ? 0 : crew.starting();
  }

  @Override
  public int idle(NodeConfig config) {
    return crew.idle(options.command().with(config.taskRunner()));
  }

  private Assignment assignment(Run run, String plugin, NodeConfig config) {
    boolean again = options.warm().idle() > 0;
    Assignment.Terms terms = new Assignment.Terms(options.plugins(), options.lease(), again);
    return new Assignment(run, plugin, config.output(), terms);
  }

  private Slot start(List<String> command, Assignment assignment) {
    TaskFolder folder = new TaskFolder(options.folder().resolve(UUID.randomUUID().toString()));
    List<String> whole = new ArrayList<>(command);
    whole.addAll(List.of("--socket", socketPath.toString()));
    whole.addAll(List.of("--folder", folder.runner().toString()));
    try {
      PrivateFiles.createFolder(folder.runner());
      AssignmentFile.write(folder, assignment);
      RunningProcess process = launcher.start(ProcessSpec.of(whole, folder.runner()));
      Slot slot = Slot.started(folder, process, command);
      slot.expect(assignment);
      return slot;
    } catch (IOException | ProcessException | IllegalArgumentException e) {
      TaskFolder.remove(folder.runner());
      throw new RunnerException("a runner cannot be started: " + e.getMessage(), e);
    }
  }

  @Override
  public void stop(ObjectId task, Duration grace) {
    crew.stop(task, grace);
  }

  @Override
  public synchronized void close() {
    crew.disband();
    if (socket != null) {
      socket.close();
    }
    clock.shutdownNow();
  }
}

package io.millrace.queues.runner;

import io.millrace.processes.PrivateFiles;
import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.ProcessSpec;
import io.millrace.processes.RunningProcess;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Run;
import io.millrace.queues.node.Runners;
import io.millrace.queues.node.Runners.RunnerException;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.queues.runner.RunnerContext.Schedule;
import io.millrace.store.Sha256;
import io.millrace.store.environment.Environment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runners that are processes of this machine. They outlive the node. Each has a folder of its own
 * with all of its state; the next start of the node finds it there, and tells it where the server
 * is now. Safe for use by any number of threads.
 */
public final class LocalRunners implements Runners {
  private static final Logger LOG = LoggerFactory.getLogger(LocalRunners.class);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);
  private static final String SILENT =
      "its runner said nothing until its claim was about to end, so it was killed";

  private final Options options;
  private final ProcessLauncher launcher;
  private final Path socketPath;
  private final ScheduledExecutorService clock = Schedule.single("runners-clock");
  private final RunnerPool pool;
  private @Nullable RunnerSocket socket;

  private LocalRunners(Options options, ProcessLauncher launcher, Path socketPath) {
    this.options = options;
    this.launcher = launcher;
    this.socketPath = socketPath;
    this.pool = new RunnerPool(options, launcher, clock);
  }

  /**
   * Creates the folder; {@link #recover} begins.
   *
   * @throws ProcessException if this machine lacks what is needed to start processes
   * @throws UncheckedIOException if the folder cannot be created
   */
  public static LocalRunners create(Options options) {
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
    pool.tell(watcher);
    Set<ObjectId> found = new HashSet<>();
    for (RunnerSlot slot : new LeftoverRunners(options.folder(), launcher).find(runs)) {
      Assignment assignment = slot.assignment();
      if (assignment != null) {
        found.add(assignment.task());
      }
      pool.admit(() -> slot);
    }
    try {
      socket = RunnerSocket.listen(socketPath, pool);
    } catch (IOException e) {
      throw new UncheckedIOException("the socket " + socketPath + " cannot be made: " + e, e);
    }
    Duration often = options.lease().dividedBy(100);
    Duration pause = often.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : often;
    var _ = Schedule.repeat(clock, () -> pool.frozen().forEach(this::kill), pause);
    var _ = Schedule.repeat(clock, pool::giveUpIdle, options.warm().longestIdle().dividedBy(4));
    return found;
  }

  @Override
  public synchronized boolean offer(Run run, String plugin, NodeConfig config) {
    List<String> program = config.taskRunner();
    Assignment assignment = assignment(run, plugin, config);
    if (pool.assign(program, assignment)) {
      return true;
    }
    if (pool.hasAsManyAsKept(program)) {
      return false;
    }
    pool.admit(() -> start(program, assignment));
    return true;
  }

  @Override
  public synchronized void begin(Run run, String plugin, NodeConfig config) {
    List<String> program = config.taskRunner();
    Assignment assignment = assignment(run, plugin, config);
    if (!pool.assign(program, assignment)) {
      pool.admit(() -> start(program, assignment));
    }
  }

  @Override
  public synchronized void prepare(NodeConfig config) {
    List<String> program = config.taskRunner();
    if (options.warm().idle() == 0 || pool.hasOne(program)) {
      return;
    }
    try {
      pool.admit(() -> start(program, null));
    } catch (RunnerException e) {
      // The first run reports it.
      LOG.debug("no runner is there before it is needed", e);
    }
  }

  @Override
  public int starting() {
    // A run waits for a warm runner before one is started; this must not delay the others.
    return options.warm().idle() > 0 ? 0 : pool.starting();
  }

  @Override
  public int idle(NodeConfig config) {
    return pool.idle(config.taskRunner());
  }

  private Assignment assignment(Run run, String plugin, NodeConfig config) {
    boolean again = options.warm().idle() > 0;
    Assignment.Terms terms = new Assignment.Terms(options.plugins(), options.lease(), again);
    return new Assignment(run, plugin, config.output(), terms);
  }

  /**
   * Starts a runner, which gets its task later if {@code assignment} is null.
   *
   * @param program what runs tasks instead of the usual program; empty for that one
   */
  private RunnerSlot start(List<String> program, @Nullable Assignment assignment) {
    TaskFolder folder = new TaskFolder(options.folder().resolve(UUID.randomUUID().toString()));
    List<String> whole = new ArrayList<>(options.command().with(program));
    whole.addAll(List.of("--socket", socketPath.toString()));
    whole.addAll(List.of("--folder", folder.runner().toString()));
    try {
      PrivateFiles.createFolder(folder.runner());
      if (assignment != null) {
        Assignment.write(folder, assignment);
      }
      RunningProcess process =
          launcher.start(
              ProcessSpec.of(whole, folder.runner())
                  .withEnvironment(options.command().environment()));
      RunnerSlot slot = RunnerSlot.started(folder, process, program, System::nanoTime);
      if (assignment != null) {
        slot.expect(assignment);
      }
      return slot;
    } catch (IOException | ProcessException | IllegalArgumentException e) {
      TaskFolder.remove(folder.runner());
      throw new RunnerException("a runner cannot be started: " + e.getMessage(), e);
    }
  }

  @Override
  public void stop(ObjectId task, Duration grace) {
    pool.stop(task, grace);
  }

  @Override
  public synchronized void close() {
    pool.disband();
    if (socket != null) {
      socket.close();
    }
    clock.shutdownNow();
  }

  /**
   * Kills a runner that does not connect, or does not stop its work although its claim is about to
   * end, for example because its process was stopped. This frees its slot. Its watchdog and {@link
   * LeftoverRunners#clear} end the rest.
   */
  private void kill(RunnerSlot slot) {
    LOG.warn("the runner in {} is silent and is killed", slot.folder().runner());
    try {
      // A runner may be killed twice, and whoever notices its end must not find an empty file.
      PrivateFiles.write(slot.folder().lastWords(), SILENT.getBytes(StandardCharsets.UTF_8));
      launcher.killGroup(slot.process().identity());
    } catch (IOException | ProcessException e) {
      LOG.warn("the runner in {} cannot be killed: {}", slot.folder().runner(), e.toString());
    }
  }

  /**
   * The socket of a node: in its folder, or if that path is too long for a socket, in a folder of
   * this user for temporary files, with a name that depends only on the node's folder.
   */
  private static final class SocketPath {
    /** The longest path of a socket that every system accepts, in bytes. */
    private static final int MAX_BYTES = 100;

    /** Nobody but the owner. */
    static final Set<PosixFilePermission> OWNER = PosixFilePermissions.fromString("rwx------");

    private SocketPath() {}

    /** The path for the node of this folder, which nobody else can reach. */
    static Path in(Path folder) throws IOException {
      Path near = folder.toAbsolutePath().normalize().resolve("socket");
      if (near.toString().getBytes(StandardCharsets.UTF_8).length <= MAX_BYTES) {
        return near;
      }
      return fallback(near, Path.of("/tmp"));
    }

    static Path fallback(Path near, Path temporary) throws IOException {
      String user = System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9_-]", "_");
      Path shared = ownFolder(temporary.resolve("millrace-" + user));
      return shared.resolve(Sha256.hex(near.toString()).substring(0, 16));
    }

    /** A folder that belongs to this user alone. */
    static Path ownFolder(Path folder) throws IOException {
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER));
      }
      // In a folder to which all may write, somebody else may have created it first.
      String owner = Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).getName();
      if (!owner.equals(Files.getOwner(Path.of(System.getProperty("user.home"))).getName())
          && !owner.equals(System.getProperty("user.name"))) {
        throw new IOException("the folder " + folder + " belongs to " + owner);
      }
      Files.setPosixFilePermissions(folder, OWNER);
      return folder;
    }
  }

  /**
   * The settings of a node's runners.
   *
   * @param folder for all files of the runners, also for the next start of the node; for one node
   *     alone
   * @param command how a runner is started
   * @param warm which runners are kept for further tasks
   * @param lease how long a claim lasts unless its runner renews it
   * @param plugins the plugins
   */
  public record Options(
      Path folder, Command command, Warm warm, Duration lease, PluginFolder plugins) {
    /** How long a claim lasts by default: 5 minutes. */
    public static final Duration LEASE = Duration.ofMinutes(5);

    /** How long idle warm runners except one are kept by default: 10 minutes. */
    public static final Duration LONGEST_IDLE = Duration.ofMinutes(10);

    /** How long an idle runner beyond the warm number is kept by default: 2 seconds. */
    public static final Duration LINGER = Duration.ofSeconds(2);

    /**
     * How a runner is started.
     *
     * @param program the program and its first arguments; the stored {@code task_runner} may
     *     replace it
     * @param arguments the address of the server, which follows in both cases and is sent to
     *     runners of earlier starts; then {@code --socket PATH} and {@code --folder DIR} are added
     * @param environment variables that runners, and so the programs of plugins, have beside those
     *     of the node
     */
    public record Command(
        List<String> program, List<String> arguments, Map<String, String> environment) {
      public Command {
        program = List.copyOf(program);
        arguments = List.copyOf(arguments);
        environment = Map.copyOf(environment);
      }

      /** A command in the environment of the node. */
      public Command(List<String> program, List<String> arguments) {
        this(program, arguments, Map.of());
      }

      List<String> with(List<String> otherProgram) {
        List<String> whole = new ArrayList<>(otherProgram.isEmpty() ? program : otherProgram);
        whole.addAll(arguments);
        return whole;
      }
    }

    /**
     * Which runners are kept.
     *
     * @param idle how many idle ones; 0 for a process of its own for each task
     * @param linger how long idle runners beyond that number are kept, which were started because
     *     all others were busy; default {@link #LINGER}
     * @param longestIdle after how long without a task a runner is dismissed unless it is the last
     *     one; default {@link #LONGEST_IDLE}
     */
    public record Warm(int idle, Duration linger, Duration longestIdle) {
      /** This number of idle runners, with the default times. */
      public static Warm of(int idle) {
        return new Warm(idle, LINGER, LONGEST_IDLE);
      }

      /** Rejects negative values. */
      public Warm {
        if (idle < 0) {
          throw new IllegalArgumentException("the number of idle runners is not negative: " + idle);
        }
        if (linger.isNegative()) {
          throw new IllegalArgumentException("a time to linger is not negative: " + linger);
        }
        if (!longestIdle.isPositive()) {
          throw new IllegalArgumentException("a time to be idle is positive: " + longestIdle);
        }
      }
    }

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when the lease is not positive
     */
    public Options {
      if (!lease.isPositive()) {
        throw new IllegalArgumentException("a lease is positive: " + lease);
      }
      folder = folder.toAbsolutePath().normalize();
    }

    /** A process for each task, the default lease, no plugin folder. */
    public static Options in(Path folder, Command command) {
      return new Options(folder, command, Warm.of(0), LEASE, new PluginFolder(null));
    }

    /** The same with this number of idle runners. */
    public Options withIdle(int number) {
      return withWarm(new Warm(number, warm.linger(), warm.longestIdle()));
    }

    /** The same with other warm runners. */
    public Options withWarm(Warm other) {
      return new Options(folder, command, other, lease, plugins);
    }

    /** The same with another lease. */
    public Options withLease(Duration duration) {
      return new Options(folder, command, warm, duration, plugins);
    }

    /** The same with other plugins. */
    public Options withPlugins(PluginFolder folders) {
      return new Options(folder, command, warm, lease, folders);
    }
  }
}

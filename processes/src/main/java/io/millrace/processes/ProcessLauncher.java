package io.millrace.processes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Starts programs and finds them again; the entry of this package. Holds no resources and needs no
 * closing: a program does not end with its launcher. Safe for use by any number of threads.
 */
public final class ProcessLauncher {
  /**
   * How long, after a program of {@link Output#ALL} has ended, others that hold its output open may
   * hold up {@link RunningProcess#onExit()}: 2 seconds, counted from when the end is noticed.
   */
  public static final Duration DRAIN_TIME = Duration.ofSeconds(2);

  private final SystemTools tools;

  private ProcessLauncher(SystemTools tools) {
    this.tools = tools;
  }

  /**
   * A launcher for this machine.
   *
   * @throws ProcessException when a program that is needed is not in PATH
   */
  public static ProcessLauncher create() {
    return withPath(System.getenv().getOrDefault("PATH", ""));
  }

  /**
   * As {@link #create()}, looking for the programs that it needs in the folders of {@code path}.
   */
  static ProcessLauncher withPath(String path) {
    return new ProcessLauncher(SystemTools.find(path));
  }

  /** Starts a program whose standard input is empty. */
  public RunningProcess start(ProcessSpec spec) {
    return start(spec, InputStream.nullInputStream());
  }

  /**
   * Starts a program.
   *
   * @param stdin its standard input, read to its end into a file before the program starts, so that
   *     the program loses none of it with this JVM; not closed
   * @return the process, which has begun and is recorded in its folder
   * @throws CannotStartException when it was not started; nothing runs then, and its files are gone
   *     from the folder
   */
  public RunningProcess start(ProcessSpec spec, InputStream stdin) {
    ProcessFolder folder = new ProcessFolder(spec.folder());
    ProcessBuilder builder = supervisor(spec);
    check(spec, builder.environment());
    folder.prepare(spec.output(), stdin);
    Process supervisor;
    try {
      supervisor = builder.start();
    } catch (IOException e) {
      folder.clear();
      throw new CannotStartException(describe(spec) + " cannot be started: " + e.getMessage(), e);
    }
    ProcessFolder.Identities identities = begin(spec, supervisor, folder);
    return RunningProcess.started(folder, identities, supervisor, tools.sh());
  }

  /**
   * Finds the process of a folder again, running or ended, whoever started it. What a {@link
   * ProcessSpawner} was about to begin there never begins once this has found nothing.
   *
   * @return the process; empty when none began there. If its launcher is gone, none will
   * @throws ProcessException when the folder's files are damaged or cannot be read
   */
  public Optional<RunningProcess> find(Path folder) {
    ProcessFolder files = new ProcessFolder(folder.toAbsolutePath().normalize());
    return files.began().map(identities -> RunningProcess.found(files, identities, tools.sh()));
  }

  /**
   * Whether a program of a {@link ProcessSpawner} has ended in this folder with all of its output,
   * so that nothing of it writes there any more and the folder can serve another, once it is empty.
   * False if that is not known.
   *
   * @throws ProcessException when the folder's files cannot be read
   */
  public boolean isDone(Path folder) {
    return new ProcessFolder(folder).isComplete();
  }

  /** Whether the program of this identity is alive; a later process with its pid is another one. */
  public boolean isAlive(ProcessIdentity identity) {
    return ProcessTable.isAlive(identity);
  }

  /**
   * A command that becomes {@code command} in a session and process group of its own, whose ids are
   * its pid; for callers that start and watch short programs without a folder. The JVM that starts
   * it sees its end, and nothing is left of its being known when that JVM dies.
   */
  public List<String> inOwnSession(List<String> command) {
    List<String> whole = new ArrayList<>(tools.session());
    whole.addAll(command);
    return whole;
  }

  /** Which process has this pid now; empty when none that is alive has. */
  public Optional<ProcessIdentity> identify(long pid) {
    return ProcessTable.startMark(pid).map(mark -> new ProcessIdentity(pid, mark));
  }

  /**
   * Sends KILL to every process of the group that this process leads or led. None of them does
   * anything more once this returns.
   *
   * @return whether there was one
   * @throws ProcessException when no signal can be sent
   */
  public boolean killGroup(ProcessIdentity leader) {
    return new ProcessGroup(leader, tools.sh()).signal("KILL");
  }

  /**
   * Sends KILL to every process of the session that this process leads or led, as {@link
   * #killGroup} does, if the system shows them; otherwise to its group alone. None of them does
   * anything more, or starts another, once this returns.
   *
   * @throws ProcessException when the processes cannot be seen, or no signal can be sent
   */
  public void killSession(ProcessIdentity leader) {
    new ProcessGroup(leader, tools.sh()).killSession();
  }

  /**
   * Whether a process was started on this machine since its last boot, and so can be seen here;
   * true if the system does not tell boots apart.
   */
  public boolean isOfThisBoot(ProcessIdentity identity) {
    return ProcessTable.isOfThisBoot(identity);
  }

  /**
   * A spawner of many programs, for which a start costs much less.
   *
   * @return it, to be closed
   */
  public ProcessSpawner spawner() {
    return new ProcessSpawner(this, tools);
  }

  /**
   * Makes a pipe with a name.
   *
   * @param path where; nothing may be there. The file is its owner's to remove
   * @return it, to be closed
   * @throws IOException when it cannot be made
   */
  public NamedPipe pipe(Path path) throws IOException {
    Process making =
        new ProcessBuilder(tools.mkfifo(), "-m", "600", path.toString())
            .redirectErrorStream(true)
            .start();
    String complaint = new String(making.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (making.onExit().join().exitValue() != 0) {
      throw new IOException("the pipe cannot be made: " + complaint.strip());
    }
    return NamedPipe.open(path);
  }

  private ProcessBuilder supervisor(ProcessSpec spec) {
    String folder = spec.folder().toString();
    List<String> command = new ArrayList<>(tools.session());
    command.addAll(List.of(tools.sh(), "-c", SystemTools.Scripts.SUPERVISE, "millrace-supervise"));
    command.addAll(List.of(folder, spec.output().name(), tools.tee(), tools.mkfifo()));
    command.addAll(tools.session());
    command.addAll(List.of(tools.sh(), "-c", SystemTools.Scripts.BEGIN, "millrace-begin", folder));
    command.addAll(spec.command());
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(spec.directory().toFile());
    builder.environment().putAll(spec.environment());
    builder.redirectError(new ProcessFolder(spec.folder()).complaintsFile().toFile());
    return builder;
  }

  /** Refuses what cannot be started, with the reason. */
  static void check(ProcessSpec spec, Map<String, String> environment) {
    checkDirectory(spec.directory());
    checkProgram(spec.command().getFirst(), spec.directory(), environment.getOrDefault("PATH", ""));
  }

  private static void checkDirectory(Path directory) {
    if (!Files.isDirectory(directory)) {
      throw new CannotStartException("the working directory " + directory + " is not there");
    }
  }

  /** A program in the folders of this process's {@code PATH}, if it is there. */
  public static Optional<Path> program(String name) {
    return SystemTools.find(name, System.getenv().getOrDefault("PATH", ""));
  }

  /**
   * Looks whether there is such a program.
   *
   * @param program a path, if it has a slash, or a name
   * @param directory what a path is relative to
   * @param path the folders in which a name is looked for, with colons between them
   * @throws CannotStartException if there is none, or it is not executable
   */
  public static void checkProgram(String program, Path directory, String path) {
    if (!program.contains("/")) {
      if (SystemTools.find(program, path).isEmpty()) {
        throw new CannotStartException(
            "the command " + program + " was not found in PATH: " + path);
      }
      return;
    }
    Path file = directory.resolve(program);
    if (!Files.exists(file)) {
      throw new CannotStartException("the command " + file + " was not found");
    }
    if (!SystemTools.isProgram(file)) {
      throw new CannotStartException("the command " + file + " is not an executable file");
    }
  }

  /** Waits until the process is on record and lets it become the program. */
  private static ProcessFolder.Identities begin(
      ProcessSpec spec, Process supervisor, ProcessFolder folder) {
    try (BufferedReader ready = supervisor.inputReader();
        OutputStream permission = supervisor.getOutputStream()) {
      if (ready.readLine() == null) {
        supervisor.onExit().join();
        String complaints = folder.complaints();
        folder.clear();
        throw new CannotStartException(describe(spec) + " cannot be started" + complaints);
      }
      folder.removePipes();
      ProcessFolder.Identities identities =
          folder
              .identities()
              .orElseThrow(() -> new CannotStartException(describe(spec) + " is not on record"));
      permission.write('\n');
      return identities;
    } catch (IOException e) {
      throw new CannotStartException(describe(spec) + " cannot be started: " + e, e);
    }
  }

  private static String describe(ProcessSpec spec) {
    return "the command " + spec.command().getFirst() + " in " + spec.directory();
  }
}

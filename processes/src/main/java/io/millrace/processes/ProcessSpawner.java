package io.millrace.processes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Starts many programs, each for a fraction of what {@link ProcessLauncher#start} costs: what
 * supervises them is kept and runs one after the other. What is promised of programs, their folders
 * and their being found again is the same; {@link ProcessLauncher#find} finds them.
 *
 * <p>A program's own side does not wait for permission: it claims the folder in the moment before
 * it begins, by a file that only one can make. If {@code find} sees nothing begun, it makes a
 * folder in that place, and then nothing will begin.
 *
 * <p>On systems without {@code /proc} or {@code perl} it starts programs as the launcher does. Safe
 * for use by any number of threads.
 */
public final class ProcessSpawner implements AutoCloseable {
  /** How many supervisors are kept while they have nothing to do. */
  private static final int MAX_IDLE = 32;

  private static final long PATIENCE_SECONDS = 60;
  private static final Path OWN = Path.of("/proc/self/stat");

  private final ProcessLauncher launcher;
  private final SystemTools tools;
  private final Map<String, String> inherited = Map.copyOf(System.getenv());

  /** Null if it was found to be of no use, and before it was tried. */
  private @Nullable String usablePerl;

  private boolean perlTried;
  private final ArrayDeque<Supervisor> idle = new ArrayDeque<>();
  private boolean closed;

  ProcessSpawner(ProcessLauncher launcher, SystemTools tools) {
    this.launcher = launcher;
    this.tools = tools;
  }

  /**
   * Starts a program as {@link ProcessLauncher#start(ProcessSpec, InputStream)} does. With {@link
   * Output#ALL} the file of an output is there from its first byte on.
   *
   * @throws CannotStartException when it was not started; nothing runs then, and its files are gone
   *     from the folder
   */
  public RunningProcess start(ProcessSpec spec, InputStream stdin) {
    String perl = usablePerl();
    return perl == null ? launcher.start(spec, stdin) : start(spec, stdin, perl);
  }

  /** The perl of this machine, if it has one with all that {@code spawn.pl} needs. */
  private synchronized @Nullable String usablePerl() {
    if (!perlTried) {
      perlTried = true;
      String perl = Files.isReadable(OWN) ? tools.perl() : null;
      usablePerl = perl != null && SystemTools.isUsablePerl(perl) ? perl : null;
    }
    return usablePerl;
  }

  private RunningProcess start(ProcessSpec spec, InputStream stdin, String perl) {
    Map<String, String> environment = new HashMap<>(inherited);
    environment.putAll(spec.environment());
    ProcessLauncher.check(spec, environment);
    ProcessFolder folder = new ProcessFolder(spec.folder());
    boolean fed = folder.feed(stdin);
    Supervisor.Program program = new Supervisor.Program(folder, spec.output());
    try {
      supervisor(perl).run(spec, fed, program);
      return RunningProcess.supervised(program, begun(program), tools.sh());
    } catch (IOException | CannotStartException e) {
      String complaints = program.isFolderTaken() ? "" : takeBack(folder);
      String what = "the command " + spec.command().getFirst() + " in " + spec.directory();
      throw new CannotStartException(
          what + " cannot be started: " + e.getMessage() + complaints, e);
    }
  }

  private static String takeBack(ProcessFolder folder) {
    folder.forbid();
    String complaints = folder.complaints();
    folder.clear();
    return complaints;
  }

  private static ProcessFolder.Identities begun(Supervisor.Program program) {
    try {
      return program.begun.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new CannotStartException(
          e.getCause() instanceof CannotStartException known
              ? String.valueOf(known.getMessage())
              : e.toString(),
          e);
    } catch (TimeoutException e) {
      return begunAfterAll(program, "the machine is too slow", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return begunAfterAll(program, "the start was interrupted", e);
    }
  }

  private static ProcessFolder.Identities begunAfterAll(
      Supervisor.Program program, String otherwise, Exception cause) {
    if (program.folder.forbid()) {
      throw new CannotStartException(otherwise, cause);
    }
    return program.begun.join();
  }

  private Supervisor supervisor(String perl) throws IOException {
    synchronized (idle) {
      for (Supervisor next = idle.pollLast(); next != null; next = idle.pollLast()) {
        if (next.isAlive()) {
          return next;
        }
      }
    }
    return Supervisor.start(tools, perl, this::keep);
  }

  private void keep(Supervisor supervisor) {
    synchronized (idle) {
      if (!closed && idle.size() < MAX_IDLE) {
        idle.addLast(supervisor);
        return;
      }
    }
    supervisor.close();
  }

  /** Ends the supervisors. Programs that run continue, and their ends are still reported. */
  @Override
  public void close() {
    List<Supervisor> all;
    synchronized (idle) {
      closed = true;
      all = List.copyOf(idle);
      idle.clear();
    }
    all.forEach(Supervisor::close);
  }
}

package io.millrace.processes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Starts many programs, each for half of what {@link ProcessLauncher#start} costs: the shells that
 * supervise them are kept and run one after the other. What is promised of programs, their folders
 * and their being found again is the same; {@link ProcessLauncher#find} finds them.
 *
 * <p>Instead of waiting for a leave, a program's own side claims the folder in the moment before it
 * begins, by a file that only one can make. Who finds nothing begun makes a folder in that place:
 * then nothing will begin.
 *
 * <p>On systems without {@code /proc} it starts programs as the launcher does. Safe for use by any
 * number of threads.
 */
public final class ProcessSpawner implements AutoCloseable {
  /** How many shells are kept while they have nothing to do. */
  private static final int MOST_IDLE = 32;

  private static final long PATIENCE_SECONDS = 60;
  private static final Path OWN = Path.of("/proc/self/stat");

  private final ProcessLauncher launcher;
  private final Tools tools;
  private final String prefix = UUID.randomUUID() + "-";
  private final AtomicLong count = new AtomicLong();
  private final ArrayDeque<SpawnShell> idle = new ArrayDeque<>();
  private boolean closed;

  ProcessSpawner(ProcessLauncher launcher, Tools tools) {
    this.launcher = launcher;
    this.tools = tools;
  }

  /**
   * Starts a program as {@link ProcessLauncher#start(ProcessSpec, InputStream)} does.
   *
   * @throws CannotStartException when it was not started; nothing runs then, and its files are gone
   *     from the folder
   */
  public RunningProcess start(ProcessSpec spec, InputStream stdin) {
    if (!StartScript.fits(spec) || !Files.isReadable(OWN)) {
      return launcher.start(spec, stdin);
    }
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.putAll(spec.environment());
    ProcessLauncher.check(spec, environment);
    ProcessFolder folder = new ProcessFolder(spec.folder());
    folder.prepare(spec.output(), stdin);
    Spawned program = new Spawned(folder);
    String key = prefix + count.incrementAndGet();
    try {
      StartScript.write(spec, key, folder.startFile());
      shell().run(key, spec.output(), program);
      ProcessFolder.Identities identities = begun(program);
      return new RunningProcess(folder, identities.program(), program.end, tools.sh());
    } catch (IOException | CannotStartException e) {
      folder.forbid();
      String complaints = folder.complaints();
      folder.clear();
      String what = "the command " + spec.command().getFirst() + " in " + spec.directory();
      throw new CannotStartException(
          what + " cannot be started: " + e.getMessage() + complaints, e);
    }
  }

  private static ProcessFolder.Identities begun(Spawned program) {
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
      Spawned program, String otherwise, Exception cause) {
    if (program.folder.forbid()) {
      throw new CannotStartException(otherwise, cause);
    }
    return program.begun.join();
  }

  private SpawnShell shell() throws IOException {
    synchronized (idle) {
      for (SpawnShell next = idle.pollLast(); next != null; next = idle.pollLast()) {
        if (next.isAlive()) {
          return next;
        }
      }
    }
    return SpawnShell.start(tools, this::keep);
  }

  private void keep(SpawnShell shell) {
    synchronized (idle) {
      if (!closed && idle.size() < MOST_IDLE) {
        idle.addLast(shell);
        return;
      }
    }
    shell.close();
  }

  /** Ends the shells. Programs that run go on, and their ends are still heard of. */
  @Override
  public void close() {
    synchronized (idle) {
      closed = true;
      idle.forEach(SpawnShell::close);
      idle.clear();
    }
  }
}

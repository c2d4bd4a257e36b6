package io.millrace.processes;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A program in a session and process group of its own that ends with this process. Nothing about it
 * is kept in files; for programs that outlive their launcher there is {@link RunningProcess}. Safe
 * for use by any number of threads.
 */
public final class GuardedProcess implements GuardedGroup {
  /**
   * Lets the program begin once it is guarded, so that a process that dies before leaves nothing
   * behind.
   */
  private static final String GATE =
      """
      read -r millrace_go || exit 125
      if [ -n "$1" ]; then exec <"$1"; fi
      shift
      exec "$@"
      """;

  private final Process process;
  private final Watchdog watchdog;
  private final GuardedGroup.LeaderRecord record;

  private GuardedProcess(Process process, Watchdog watchdog, GuardedGroup.LeaderRecord record) {
    this.process = process;
    this.watchdog = watchdog;
    this.record = record;
  }

  /**
   * Starts a program.
   *
   * @param builder the command, its environment, folder and redirections, but for standard input
   * @param input the file that is its standard input; null for {@link #stdin()}
   * @throws IOException when it cannot be started; nothing is left of it then
   */
  public static GuardedProcess start(
      ProcessBuilder builder,
      @Nullable Path input,
      GuardedGroup.LeaderRecord record,
      Watchdog watchdog)
      throws IOException {
    List<String> gated = new ArrayList<>(List.of("/bin/sh", "-c", GATE, "millrace"));
    gated.add(input == null ? "" : input.toString());
    gated.addAll(builder.command());
    Process process = builder.command(watchdog.launcher().inOwnSession(gated)).start();
    try {
      ProcessIdentity leader =
          watchdog
              .launcher()
              .identify(process.pid())
              .orElseThrow(() -> new IOException("the shell before it has ended"));
      record.begun(leader);
      watchdog.guard(leader.pid());
      OutputStream gate = process.getOutputStream();
      gate.write('\n');
      gate.flush();
      if (input != null) {
        gate.close();
      }
      return new GuardedProcess(process, watchdog, record);
    } catch (IOException | RuntimeException e) {
      // It waits at its gate, so it has started no other process.
      process.destroyForcibly();
      throw e;
    }
  }

  /** Its standard input, unless it is a file. */
  public OutputStream stdin() {
    return process.getOutputStream();
  }

  /** Its standard error, unless it is redirected. */
  public InputStream stderr() {
    return process.getErrorStream();
  }

  @Override
  public int waitFor() throws InterruptedException {
    return process.waitFor();
  }

  @Override
  public boolean isGroupAlive() {
    return watchdog.signal("0", process.pid());
  }

  @Override
  public void terminate() {
    if (!watchdog.signal("TERM", process.pid())) {
      // Its session may not have begun yet.
      process.destroy();
    }
  }

  @Override
  public void kill() {
    watchdog.signal("KILL", process.pid());
    process.destroyForcibly();
  }

  /** Kills only the program itself, for example because of what it printed. */
  public void killAlone() {
    process.destroyForcibly();
  }

  @Override
  public void end() {
    // After its end, this would close its streams, whose last bytes may not be read yet.
    if (process.isAlive()) {
      process.destroyForcibly();
    }
    watchdog.end(process.pid());
    record.ended();
  }
}

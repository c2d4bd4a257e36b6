package io.millrace.processes;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts programs as children of this process, each in a group of its own in this process's
 * session. A program need not wait until it is registered: whatever happens to this process, its
 * children and their processes belong to its session from the first moment on. Safe for use by any
 * number of threads.
 */
final class DirectLauncher {
  private static final Logger LOG = LoggerFactory.getLogger(DirectLauncher.class);

  private final EnvironmentBytes environment;

  private DirectLauncher(EnvironmentBytes environment) {
    this.environment = environment;
  }

  /**
   * Loads and tries the functions that it needs, which takes a while.
   *
   * @return empty if this system does not support it
   */
  static Optional<DirectLauncher> load() {
    if (!isPossible()) {
      return Optional.empty();
    }
    try {
      DirectLauncher launcher = new DirectLauncher(EnvironmentBytes.own());
      launcher.warmUp();
      return Optional.of(launcher);
    } catch (IOException | RuntimeException | LinkageError e) {
      LOG.debug("programs are started by way of a shell", e);
      return Optional.empty();
    }
  }

  /** As {@link #load()}; also empty if this process does not lead the session. */
  static Optional<DirectLauncher> in(String session) {
    try {
      return ProcessTable.own()
          .filter(stat -> Long.toString(stat.session()).equals(session))
          .flatMap(stat -> load());
    } catch (IOException e) {
      LOG.debug("programs are started by way of a shell", e);
      return Optional.empty();
    }
  }

  /** Whether this is Linux with 64 bits; {@link Libc} fails to load if a function is missing. */
  private static boolean isPossible() {
    return System.getProperty("os.name", "").equals("Linux")
        && ValueLayout.ADDRESS.byteSize() == Long.BYTES;
  }

  /**
   * Starts a program, so that the first real one need not wait for the first calls of functions.
   */
  private void warmUp() throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder("/bin/sh", "-c", ":")
            .directory(Path.of("/").toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    DirectProcess process =
        start(builder, Path.of("/dev/null"))
            .orElseThrow(() -> new IOException("no program can be started"));
    process.waitFor();
    process.end();
  }

  /**
   * Starts a program.
   *
   * @param builder with its folder, and redirections to files
   * @param input the file for its standard input
   * @return empty if it cannot be started in this way; nothing is left of it then, and the other
   *     way will start it or report why not
   */
  Optional<DirectProcess> start(ProcessBuilder builder, Path input) throws IOException {
    Path directory = builder.directory().toPath().toRealPath();
    Map<String, String> variables = new HashMap<>(builder.environment());
    // Like every shell, and like the other way.
    variables.put("PWD", directory.toString());
    List<String> words = builder.command();
    if (words.stream().anyMatch(word -> word.indexOf('\0') >= 0)) {
      return Optional.empty();
    }
    Path file = find(words.getFirst(), directory, variables.get("PATH"));
    Libc.Opened output = opened(builder.redirectOutput());
    Libc.Opened errors = opened(builder.redirectError());
    if (file == null || output == null || errors == null) {
      return Optional.empty();
    }
    List<Libc.Opened> streams = List.of(new Libc.Opened(input, Libc.Mode.READ), output, errors);
    int pid =
        Libc.spawn(new Libc.Program(file, words, environment.of(variables), directory, streams));
    return pid > 0 ? Optional.of(new DirectProcess(pid)) : Optional.empty();
  }

  /** The file of a program's name or path; null if only a shell can tell. */
  private static @Nullable Path find(String program, Path directory, @Nullable String path) {
    try {
      if (program.contains("/")) {
        return directory.resolve(program);
      }
      for (String folder : path == null ? new String[0] : path.split(":", -1)) {
        Path file = directory.resolve(folder).resolve(program);
        if (SystemTools.isProgram(file)) {
          return file;
        }
      }
    } catch (InvalidPathException e) {
      LOG.debug("no path of this locale leads to {}", program, e);
    }
    return null;
  }

  private static Libc.@Nullable Opened opened(ProcessBuilder.Redirect redirect) {
    Libc.Mode mode =
        switch (redirect.type()) {
          case APPEND -> Libc.Mode.APPEND;
          case WRITE -> Libc.Mode.WRITE;
          case PIPE, INHERIT, READ -> null;
        };
    return mode == null ? null : new Libc.Opened(redirect.file().toPath().toAbsolutePath(), mode);
  }

  /**
   * A program that was started directly. Until {@link #end} collects its exit status, its pid and
   * group are its own, so no signal can reach a stranger.
   */
  static final class DirectProcess implements GuardedGroup {
    private static final int SIGKILL = 9;
    private static final int SIGTERM = 15;

    private final int pid;
    private boolean over;

    private DirectProcess(int pid) {
      this.pid = pid;
    }

    /** Blocks this thread, which cannot be interrupted meanwhile. */
    @Override
    public int waitFor() {
      return Libc.awaitEnd(pid);
    }

    /** Looks at every process, since the ended leader belongs to the group until {@link #end}. */
    @Override
    public boolean isGroupAlive() {
      try {
        return ProcessTable.all().stream().anyMatch(stat -> stat.isAlive() && stat.group() == pid);
      } catch (IOException e) {
        throw new ProcessException("the processes of group " + pid + " cannot be seen: " + e, e);
      }
    }

    @Override
    public synchronized void terminate() {
      signal(SIGTERM);
    }

    @Override
    public synchronized void kill() {
      signal(SIGKILL);
    }

    @Override
    public void end() {
      kill();
      // Without the lock, since it may take some time to die.
      waitFor();
      reap();
    }

    /**
     * Releases its pid under the lock, so that no signal is sent to a later process with the same
     * pid.
     */
    private synchronized void reap() {
      if (!over) {
        over = true;
        Libc.reap(pid);
      }
    }

    private void signal(int signal) {
      if (!over) {
        boolean _ = Libc.kill(-pid, signal);
      }
    }
  }

  /**
   * The environment of this process, byte for byte, since strings would lose bytes that are not
   * characters of its locale.
   */
  static final class EnvironmentBytes {
    private final Charset charset;
    private final Map<String, String> values = new HashMap<>();
    private final Map<String, byte[]> whole = new HashMap<>();

    /** Variables, each of which ends with a zero. */
    EnvironmentBytes(byte[] all, Charset charset) {
      this.charset = charset;
      for (int from = 0, to; from < all.length; from = to + 1) {
        to = indexOf(all, (byte) 0, from);
        // Like the JDK: a name is not empty, and may begin with a =.
        int equals = indexOf(all, (byte) '=', from + 1);
        if (equals < to) {
          String name = new String(all, from, equals - from, charset);
          String value = new String(all, equals + 1, to - equals - 1, charset);
          if (values.putIfAbsent(name, value) == null) {
            whole.put(name, Arrays.copyOfRange(all, from, to));
          }
        }
      }
    }

    /** The variables of this process. */
    private static EnvironmentBytes own() throws IOException {
      return new EnvironmentBytes(
          Files.readAllBytes(Path.of("/proc/self/environ")), ProcessSpec.CHARSET);
    }

    private static int indexOf(byte[] all, byte wanted, int from) {
      int at = from;
      while (at < all.length && all[at] != wanted) {
        at++;
      }
      return at;
    }

    /** These variables as {@code NAME=VALUE}; unchanged ones keep their bytes. */
    List<byte[]> of(Map<String, String> wanted) {
      List<byte[]> all = new ArrayList<>(wanted.size());
      wanted.forEach((name, value) -> {
        byte[] known = value.equals(values.get(name)) ? whole.get(name) : null;
        all.add(known != null ? known : (name + "=" + value).getBytes(charset));
      });
      return all;
    }
  }
}

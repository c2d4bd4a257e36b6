package io.millrace.processes;

import java.io.IOException;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts of programs by this process itself, each in a group of its own in this process's session.
 * Nothing has to hold a program until somebody knows of it: whatever happens to this process, its
 * children are of its session from their first moment on, and so is what they start. Safe for use
 * by any number of threads.
 */
final class DirectStarts {
  private static final Logger LOG = LoggerFactory.getLogger(DirectStarts.class);

  /** What is used of the C library; the youngest of it is of glibc 2.34. */
  private static final List<String> FUNCTIONS =
      List.of(
          "kill",
          "waitid",
          "posix_spawn",
          "posix_spawnattr_init",
          "posix_spawnattr_setflags",
          "posix_spawnattr_setsigmask",
          "posix_spawn_file_actions_init",
          "posix_spawn_file_actions_destroy",
          "posix_spawn_file_actions_addopen",
          "posix_spawn_file_actions_addchdir_np",
          "posix_spawn_file_actions_addclosefrom_np");

  private final EnvironmentBytes environment;

  private DirectStarts(EnvironmentBytes environment) {
    this.environment = environment;
  }

  /**
   * Makes them ready, which takes a while.
   *
   * @return empty where this system cannot do it
   */
  static Optional<DirectStarts> load() {
    if (!isPossible()) {
      return Optional.empty();
    }
    try {
      DirectStarts starts = new DirectStarts(EnvironmentBytes.own());
      starts.rehearse();
      return Optional.of(starts);
    } catch (IOException | RuntimeException | LinkageError e) {
      LOG.debug("programs are started by way of a shell", e);
      return Optional.empty();
    }
  }

  /** As {@link #load()}; empty as well where this process does not lead the session. */
  static Optional<DirectStarts> in(String session) {
    try {
      return ProcessStat.own()
          .filter(stat -> Long.toString(stat.session()).equals(session))
          .flatMap(stat -> load());
    } catch (IOException e) {
      LOG.debug("programs are started by way of a shell", e);
      return Optional.empty();
    }
  }

  /** Whether this is Linux with 64 bits and a C library that has what is needed. */
  private static boolean isPossible() {
    return System.getProperty("os.name", "").equals("Linux")
        && ValueLayout.ADDRESS.byteSize() == Long.BYTES
        && FUNCTIONS.stream()
            .allMatch(name -> Linker.nativeLinker().defaultLookup().find(name).isPresent());
  }

  /** So that the first program need not wait for what every first call costs. */
  private void rehearse() throws IOException {
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
   * @param input the file that is its standard input
   * @return empty where it cannot be started so; nothing is left of it then, and another way will
   *     do it or say why not
   */
  Optional<DirectProcess> start(ProcessBuilder builder, Path input) throws IOException {
    Path directory = builder.directory().toPath().toRealPath();
    Map<String, String> variables = new HashMap<>(builder.environment());
    // As every shell does, and as the one of the other way did.
    variables.put("PWD", directory.toString());
    List<String> words = builder.command();
    if (words.stream().anyMatch(word -> word.indexOf('\0') >= 0)) {
      return Optional.empty();
    }
    Path file = find(words.getFirst(), directory, variables.get("PATH"));
    PosixSpawn.Opened output = opened(builder.redirectOutput());
    PosixSpawn.Opened errors = opened(builder.redirectError());
    if (file == null || output == null || errors == null) {
      return Optional.empty();
    }
    int pid =
        PosixSpawn.start(
            new PosixSpawn.Program(
                file,
                words,
                environment.of(variables),
                directory,
                List.of(new PosixSpawn.Opened(input, PosixSpawn.Mode.READ), output, errors)));
    return pid > 0 ? Optional.of(new DirectProcess(pid)) : Optional.empty();
  }

  /** The program of a name, or of a path where it has a slash; null where a shell may know more. */
  private static @Nullable Path find(String program, Path directory, @Nullable String path) {
    try {
      if (program.contains("/")) {
        return directory.resolve(program);
      }
      for (String folder : path == null ? new String[0] : path.split(":", -1)) {
        Path file = directory.resolve(folder).resolve(program);
        if (Tools.Executables.isProgram(file)) {
          return file;
        }
      }
    } catch (InvalidPathException e) {
      LOG.debug("no path of this locale leads to {}", program, e);
    }
    return null;
  }

  private static PosixSpawn.@Nullable Opened opened(ProcessBuilder.Redirect redirect) {
    PosixSpawn.Mode mode =
        switch (redirect.type()) {
          case APPEND -> PosixSpawn.Mode.APPEND;
          case WRITE -> PosixSpawn.Mode.WRITE;
          case PIPE, INHERIT, READ -> null;
        };
    return mode == null
        ? null
        : new PosixSpawn.Opened(redirect.file().toPath().toAbsolutePath(), mode);
  }
}

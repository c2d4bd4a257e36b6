package io.millrace.processes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The programs of the system that starting and ending others needs, found once by their paths,
 * since the PATH of a program to be started may lead elsewhere; and the scripts that some of them
 * run.
 *
 * @param session what to put before a command so that it runs in a session of its own
 * @param perl null if there is none
 */
record SystemTools(
    String sh, String tee, String mkfifo, List<String> session, @Nullable String perl) {
  private static final Logger LOG = LoggerFactory.getLogger(SystemTools.class);

  // Both do it in place, without another process, as the caller is never the leader of a group.
  private static final String PERL_SESSION =
      "use POSIX (); POSIX::setsid() != -1 or die \"setsid: $!\"; exec { $ARGV[0] } @ARGV"
          + " or die \"$ARGV[0]: $!\"";

  /** What {@code spawn.pl} needs; some distributions have the module in a package of its own. */
  private static final String PERL_PROBE = "use POSIX ();";

  private static final long PATIENCE_SECONDS = 60;

  static SystemTools find(String path) {
    String perl = find("perl", path).map(Path::toString).orElse(null);
    return new SystemTools(
        need("sh", path), need("tee", path), need("mkfifo", path), session(path, perl), perl);
  }

  private static List<String> session(String path, @Nullable String perl) {
    Optional<Path> setsid = find("setsid", path);
    if (setsid.isPresent()) {
      return List.of(setsid.get().toString());
    }
    if (perl == null) {
      throw new ProcessException(
          "processes need the program setsid (of util-linux) or perl, and neither is in PATH: "
              + path);
    }
    return List.of(perl, "-e", PERL_SESSION);
  }

  private static String need(String name, String path) {
    return find(name, path)
        .map(Path::toString)
        .orElseThrow(() ->
            new ProcessException("processes need " + name + ", which is not in PATH: " + path));
  }

  /** Looks for a program as a shell does. */
  static Optional<Path> find(String name, String path) {
    for (String folder : path.split(":", -1)) {
      Path file = Path.of(folder.isEmpty() ? "." : folder, name).toAbsolutePath();
      if (isProgram(file)) {
        return Optional.of(file);
      }
    }
    return Optional.empty();
  }

  static boolean isProgram(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }

  /** Whether this perl has all that {@code spawn.pl} needs. Takes some milliseconds. */
  static boolean isUsablePerl(String perl) {
    try {
      Process process =
          new ProcessBuilder(perl, "-C0", "-e", PERL_PROBE)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.getOutputStream().close();
      if (process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        if (process.exitValue() == 0) {
          return true;
        }
      } else {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      LOG.debug("perl cannot be tried", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    LOG.info("{} lacks the module POSIX, so starting programs takes longer", perl);
    return false;
  }

  /** The scripts, which are read when the first is used. */
  static final class Scripts {
    /** Supervises a program; as {@code sh -c} takes it. */
    static final String SUPERVISE = script("supervise.sh");

    /** Becomes a program; as {@code sh -c} takes it. */
    static final String BEGIN = script("begin.sh");

    /** Starts one program after the other; as {@code perl -e} takes it. */
    static final String SPAWN = script("spawn.pl");

    private Scripts() {}

    private static String script(String name) {
      try (InputStream in = SystemTools.class.getResourceAsStream(name)) {
        if (in == null) {
          throw new ProcessException("the script " + name + " is missing from the class path");
        }
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      } catch (IOException e) {
        throw new ProcessException("the script " + name + " cannot be read: " + e, e);
      }
    }
  }
}

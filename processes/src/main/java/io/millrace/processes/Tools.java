package io.millrace.processes;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The programs of the system that starting and ending others needs, found once by their paths,
 * since the PATH of a program to be started may lead elsewhere.
 *
 * @param session what to put before a command so that it runs in a session of its own
 * @param perl null where there is none
 */
record Tools(String sh, String tee, String mkfifo, List<String> session, @Nullable String perl) {
  // Both do it in place, without another process, as the caller is never the leader of a group.
  private static final String PERL_SESSION =
      "use POSIX (); POSIX::setsid() != -1 or die \"setsid: $!\"; exec { $ARGV[0] } @ARGV"
          + " or die \"$ARGV[0]: $!\"";

  static Tools find(String path) {
    return new Tools(
        need("sh", path),
        need("tee", path),
        need("mkfifo", path),
        session(path),
        Executables.find("perl", path).map(Path::toString).orElse(null));
  }

  private static List<String> session(String path) {
    Optional<Path> setsid = Executables.find("setsid", path);
    if (setsid.isPresent()) {
      return List.of(setsid.get().toString());
    }
    return Executables.find("perl", path)
        .map(perl -> List.of(perl.toString(), "-e", PERL_SESSION))
        .orElseThrow(() ->
            new ProcessException(
                "processes need the program setsid (of util-linux) or perl, and neither is in"
                    + " PATH: "
                    + path));
  }

  private static String need(String name, String path) {
    return Executables.find(name, path)
        .map(Path::toString)
        .orElseThrow(() ->
            new ProcessException("processes need " + name + ", which is not in PATH: " + path));
  }

  /** Looking for programs the way that a shell does. */
  static final class Executables {
    private Executables() {}

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
  }
}

package io.millrace.server.security;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What other users of this machine may do with the files of a server. Its folders hold what its
 * tasks are about, and secrets by which anybody can run programs as the server's user.
 */
public final class FilePermissions {
  private static final Logger LOG = LoggerFactory.getLogger(FilePermissions.class);
  private static final Set<PosixFilePermission> OWNER =
      Set.copyOf(PosixFilePermissions.fromString("rwx------"));

  private static final Set<PosixFilePermission> PASSAGE =
      EnumSet.of(PosixFilePermission.GROUP_EXECUTE, PosixFilePermission.OTHERS_EXECUTE);

  private FilePermissions() {}

  /**
   * That other users may use a file or folder.
   *
   * @param permissions as in {@code rw-r--r--}
   * @param advice the command that keeps them out
   */
  public record Shared(String permissions, String advice) {}

  /**
   * Whether anybody but the owner may use a file or folder, and can reach it through the folders
   * above. Empty also if it does not exist, or on a file system without such permissions.
   */
  public static Optional<Shared> shared(Path path) {
    try {
      Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(path);
      return OWNER.containsAll(permissions) || !isReachable(path.toRealPath())
          ? Optional.empty()
          : Optional.of(
              new Shared(
                  PosixFilePermissions.toString(permissions),
                  "chmod %s %s".formatted(Files.isDirectory(path) ? "700" : "600", path)));
    } catch (IOException | UnsupportedOperationException e) {
      return Optional.empty();
    }
  }

  /**
   * Warns in the log if a file or folder is shared.
   *
   * @param what what it is, as {@code data folder}
   */
  public static void warnIfShared(String what, Path path) {
    shared(path)
        .ifPresent(found ->
            LOG.warn(
                "other users of this machine may use the {} {} ({}); to keep them out: {}",
                what,
                path,
                found.permissions(),
                found.advice()));
  }

  /** Whether all folders above let others through. */
  private static boolean isReachable(Path path) throws IOException {
    for (Path above = path.getParent(); above != null; above = above.getParent()) {
      if (Collections.disjoint(Files.getPosixFilePermissions(above), PASSAGE)) {
        return false;
      }
    }
    return true;
  }
}

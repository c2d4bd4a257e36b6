package io.millrace.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.security.FilePermissions.Shared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a server that other users could use are warned about. */
final class FilePermissionsTest {
  @TempDir private Path root = Path.of("");
  private Path folder = Path.of("");
  private Path file = Path.of("");

  @BeforeEach
  void make() throws IOException {
    set(root, "rwxr-xr-x");
    folder = Files.createDirectory(root.resolve("folder"));
    file = Files.createFile(folder.resolve("file"));
  }

  @Test
  void what_the_owner_alone_may_use_is_no_matter() throws IOException {
    set(folder, "rwx------");
    set(file, "rw-------");
    assertThat(FilePermissions.shared(folder)).isEmpty();
    assertThat(FilePermissions.shared(file)).isEmpty();
    assertThat(FilePermissions.shared(root.resolve("none"))).isEmpty();
  }

  @Test
  void what_others_may_use_is_warned_about() throws IOException {
    set(folder, "rwxr-x---");
    set(file, "rw-r--r--");
    boolean reached = isReachable(root.toRealPath());
    assertThat(FilePermissions.shared(folder))
        .isEqualTo(
            reached
                ? Optional.of(new Shared("rwxr-x---", "chmod 700 " + folder))
                : Optional.empty());
    assertThat(FilePermissions.shared(file).isPresent()).isEqualTo(reached);
  }

  @Test
  void what_a_private_folder_holds_cannot_be_reached_whatever_its_permissions() throws IOException {
    set(folder, "rwx------");
    set(file, "rw-rw-rw-");
    assertThat(FilePermissions.shared(file)).isEmpty();
  }

  /** Temporary files may lie in a home that is private as a whole. */
  private static boolean isReachable(Path path) throws IOException {
    for (Path above = path.getParent(); above != null; above = above.getParent()) {
      String permissions = PosixFilePermissions.toString(Files.getPosixFilePermissions(above));
      if (!permissions.endsWith("x") && permissions.charAt(5) != 'x') {
        return false;
      }
    }
    return true;
  }

  private static void set(Path path, String permissions) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
  }
}

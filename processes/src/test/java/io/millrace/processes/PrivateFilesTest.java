package io.millrace.processes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files that nobody but their owner can use, whatever the umask is. */
final class PrivateFilesTest {
  @TempDir private Path root = Path.of("");

  @Test
  void folders_are_private_and_those_that_exist_keep_their_permissions() throws IOException {
    Path usual = Files.createDirectory(root.resolve("usual"));
    Files.setPosixFilePermissions(usual, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path above = usual.resolve("above");
    Path folder = above.resolve("folder");
    PrivateFiles.createFolder(folder);
    PrivateFiles.createFolder(folder);
    assertThat(permissions(folder)).isEqualTo("rwx------");
    assertThat(permissions(above)).isEqualTo("rwx------");
    assertThat(permissions(usual)).isEqualTo("rwxr-xr-x");
  }

  @Test
  void a_file_is_private_and_one_that_exists_keeps_its_permissions() throws IOException {
    Path file = root.resolve("file");
    PrivateFiles.write(file, "long content".getBytes(UTF_8));
    PrivateFiles.write(file, "short".getBytes(UTF_8));
    assertThat(file).hasContent("short");
    assertThat(permissions(file)).isEqualTo("rw-------");

    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    PrivateFiles.write(file, "again".getBytes(UTF_8));
    assertThat(permissions(file)).isEqualTo("rw-r-----");
  }

  @ParameterizedTest
  @EnumSource(Output.class)
  void all_that_is_kept_of_a_program_is_private_and_its_umask_the_usual_one(Output output)
      throws IOException {
    String umask = usualUmask();
    ProcessLauncher launcher = ProcessLauncher.create();
    try (ProcessSpawner spawner = launcher.spawner()) {
      run("launched", umask, output, launcher::start);
      run("spawned", umask, output, spawner::start);
    }
  }

  private interface Starter {
    RunningProcess start(ProcessSpec spec, InputStream stdin);
  }

  private void run(String name, String umask, Output output, Starter starter) throws IOException {
    Path folder = root.resolve(name);
    String script = "umask > " + root.resolve(name + "-umask") + "; cat; echo no >&2";
    RunningProcess process =
        starter.start(
            ProcessSpec.of(List.of("sh", "-c", script), folder).withOutput(output),
            new ByteArrayInputStream("secret".getBytes(UTF_8)));
    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(0));
    assertThat(root.resolve(name + "-umask")).hasContent(umask);
    try (Stream<Path> files = Files.walk(folder)) {
      assertThat(files)
          .hasSizeGreaterThan(3)
          .allSatisfy(file -> assertThat(permissions(file)).endsWith("------"));
    }
  }

  private static String usualUmask() throws IOException {
    Process shell = new ProcessBuilder("sh", "-c", "umask").start();
    try (InputStream out = shell.getInputStream()) {
      return new String(out.readAllBytes(), UTF_8).strip();
    }
  }

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }
}

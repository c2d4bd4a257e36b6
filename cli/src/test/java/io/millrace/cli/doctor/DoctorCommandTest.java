package io.millrace.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.millrace.cli.Shell;
import io.millrace.server.security.FilePermissions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DoctorCommandTest {
  @TempDir private Path folder;

  private Shell.CommandResult doctor(String... more) {
    return doctor(0, more);
  }

  private Shell.CommandResult doctor(int port, String... more) {
    String data = folder.resolve("data").toString();
    List<String> words =
        new ArrayList<>(List.of("doctor", "--data", data, "--port", Integer.toString(port)));
    words.addAll(List.of(more));
    return Shell.run(words.toArray(String[]::new));
  }

  @Test
  void a_machine_on_which_a_server_can_run_passes_and_nothing_is_left() throws IOException {
    Shell.CommandResult ran = doctor();
    assertThat(ran.code()).as(ran.out()).isZero();
    assertThat(ran.out())
        .contains("ok       configuration:", "will be created", "a sync takes", "one that is free")
        .doesNotContain("failure");
    assertThat(ran.err()).isEmpty();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void findings_are_printed_as_json() {
    JsonNode findings = new JsonMapper().readTree(doctor("--json").out()).path("findings");
    assertThat(findings.size()).isGreaterThan(4);
    findings.forEach(each -> {
      assertThat(each.path("level").asString()).isIn("ok", "warning", "failure");
      assertThat(each.path("check").asString()).isNotEmpty();
      assertThat(each.path("message").asString()).isNotEmpty();
    });
  }

  @Test
  void a_wrong_configuration_is_named() {
    Shell.CommandResult ran = doctor("--set", "server.prt=1");
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out()).contains("failure  configuration:", "server.prt", "server.port");
  }

  @Test
  void a_port_in_use_is_named() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();
      Shell.CommandResult ran = doctor(port);
      assertThat(ran.code()).isEqualTo(1);
      assertThat(ran.out()).contains("failure  port:", "port " + port, "--port");
    }
  }

  @Test
  void an_address_of_another_machine_is_named() {
    Shell.CommandResult ran = doctor("--address", "192.0.2.1");
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out()).contains("failure  port: 192.0.2.1 is no address", "correct --address");
  }

  @Test
  void the_port_of_the_server_that_uses_the_folder_is_no_failure() throws Exception {
    Path data = Files.createDirectories(folder.resolve("data"));
    // Locked by another process, as a server does: this one's own locks would count otherwise.
    Path lock = Files.createFile(data.resolve("lock"));
    String program =
        """
        import java.nio.channels.FileChannel;
        import java.nio.file.*;
        class Holder {
          public static void main(String[] words) throws Exception {
            FileChannel.open(Path.of(words[0]), StandardOpenOption.WRITE).lock();
            System.out.println("locked");
            System.in.read();
          }
        }
        """;
    Path source = Files.writeString(folder.resolve("Holder.java"), program);
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Process holder =
        new ProcessBuilder(java.toString(), source.toString(), lock.toString()).start();
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(holder.inputReader().readLine()).isEqualTo("locked");
      Shell.CommandResult ran = doctor(other.getLocalPort());
      assertThat(ran.code()).as(ran.out()).isZero();
      assertThat(ran.out())
          .contains("a server uses it now", other.getLocalPort() + " is in use, as the data");
    } finally {
      holder.destroyForcibly();
    }
  }

  @Test
  void back_ends_that_do_not_answer_are_named() throws IOException {
    int port;
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = closed.getLocalPort();
    }
    Shell.CommandResult ran =
        doctor(
            "--set", "archive.url=postgresql://127.0.0.1:" + port + "/archive",
            "--set", "traces.endpoint=http://127.0.0.1:" + port,
            "--set", "blobs.url=s3://bucket?endpoint=http://127.0.0.1:" + port,
            "--set", "blobs.user=id",
            "--set", "blobs.password=secret");
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out())
        .contains("failure  blobs.url: s3://bucket at http://127.0.0.1:" + port)
        .contains("failure  archive.url: 127.0.0.1 port " + port)
        .contains("failure  traces.endpoint: 127.0.0.1 port " + port);
  }

  @Test
  void a_token_file_with_which_a_server_does_not_start_is_named() throws IOException {
    Path file = folder.resolve("token");
    Shell.CommandResult missing = doctor("--token-file", file.toString());
    assertThat(missing.code()).isEqualTo(1);
    assertThat(missing.out()).contains("failure  token:", file.toString());
    Files.writeString(file, "\n");
    assertThat(doctor("--token-file", file.toString()).out()).contains("failure  token:", "empty");
    Files.writeString(file, "secret\n");
    Shell.CommandResult there = doctor("--token-file", file.toString());
    assertThat(there.code()).as(there.out()).isZero();
    assertThat(there.out()).contains("ok       token:").doesNotContain("secret");

    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    assumeThat(FilePermissions.shared(file)).as("temporary files can be reached").isPresent();
    assertThat(doctor("--token-file", file.toString()).out())
        .contains("warning  permissions:", "token (rw-r-----)", "chmod 600 " + file);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    assertThat(doctor("--token-file", file.toString()).out()).doesNotContain("permissions");
  }

  @Test
  void a_certificate_that_cannot_be_read_is_named() throws IOException {
    Path file = Files.writeString(folder.resolve("certificate.pem"), "none");
    Shell.CommandResult ran =
        doctor(
            "--set", "server.tls.certificate=" + file,
            "--set", "server.tls.key=" + file);
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out()).contains("failure  certificate:", "certificate.pem");
  }

  @Test
  void a_folder_that_others_may_use_and_a_clock_that_went_back_are_warned_of() throws IOException {
    Path data = Files.createDirectory(folder.resolve("data"));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    assumeThat(FilePermissions.shared(data)).as("temporary files can be reached").isPresent();
    Path file = Files.createFile(data.resolve("0000000000000001.segment"));
    Files.setLastModifiedTime(file, FileTime.from(Instant.now().plus(Duration.ofDays(2))));
    Shell.CommandResult ran = doctor();
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).contains("warning  permissions:", "chmod 700", "warning  clock:");
  }

  @Test
  void a_file_in_place_of_the_folder_is_named() throws IOException {
    Files.createFile(folder.resolve("data"));
    Shell.CommandResult ran = doctor();
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out()).contains("failure  data folder:", "is not a folder", "--data");
  }
}

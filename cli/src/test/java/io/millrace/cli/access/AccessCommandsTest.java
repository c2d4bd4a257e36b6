package io.millrace.cli.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Principals and keys by the command line, at a server that requires credentials. */
@NullMarked
final class AccessCommandsTest {
  @TempDir private Path folder;
  private MillraceServer server;
  private Path admin;

  @BeforeEach
  void start() throws IOException {
    server =
        MillraceServer.start(
            Configuration.read(
                MillraceServer.SECTIONS,
                null,
                Map.of(
                    "server.port",
                    "0",
                    "store.data",
                    folder.resolve("data").toString(),
                    "server.require-credentials",
                    "true")));
    Path bootstrap =
        Files.writeString(
            folder.resolve("bootstrap"), server.principals().bootstrapKey().orElseThrow());
    admin = folder.resolve("admin");
    Shell.CommandResult created =
        run(bootstrap, "create", "root", "--role", "admin", "--key-file", admin.toString());
    assertThat(created.code()).as(created.err()).isZero();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Shell.CommandResult run(Path key, String... command) {
    return run(new byte[0], key, command);
  }

  private Shell.CommandResult run(byte[] input, Path key, String... command) {
    return runIn("access", input, key, command);
  }

  private Shell.CommandResult runIn(String group, byte[] input, Path key, String... command) {
    return Shell.run(
        input,
        Stream.of(
                Stream.of(group),
                Stream.of(command),
                Stream.of("--server", "http://127.0.0.1:" + server.port()),
                Stream.of("--token-file", key.toString()))
            .flatMap(part -> part)
            .toArray(String[]::new));
  }

  private String done(String... command) {
    Shell.CommandResult ran = run(admin, command);
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out();
  }

  @Test
  void a_key_in_a_file_is_for_its_owner_alone_and_is_not_printed() throws IOException {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(admin)))
        .isEqualTo("rw-------");
    assertThat(Files.readString(admin)).startsWith("mr_");
    String out = done("key", "root", "--key-file", folder.resolve("second").toString());
    assertThat(out).doesNotContain("mr_").contains("second");
  }

  @Test
  void a_principal_is_created_shown_changed_and_deleted() throws IOException {
    String key =
        done("create", "ann", "-r", "viewer,worker", "--queues", "mail", "--note", "tests").strip();
    assertThat(key).startsWith("mr_");
    assertThat(done("list")).contains("ann").contains("viewer, worker").contains("queues: mail");
    assertThat(done("show", "ann")).contains("tests").contains(key.substring(3, 11));
    assertThat(done("keys")).contains("root").contains(key.substring(3, 11)).doesNotContain(key);
    Path file = Files.writeString(folder.resolve("ann"), key);
    assertThat(run(file, "me").out()).contains("ann").contains("queues: mail");

    done("roles", "ann", "-r", "submitter");
    assertThat(run(file, "me").out()).contains("submitter").contains("everything");
    done("set", "ann", "--disable");
    assertThat(run(file, "me").code()).isEqualTo(1);
    done("set", "ann", "--enable");
    assertThat(run(file, "list").code()).isEqualTo(1);
    assertThat(run(file, "list").err()).contains("admin");
    assertThat(done("delete", "ann")).contains("deleted");
    assertThat(run(file, "me").err()).contains("revoked");
  }

  @Test
  void somebody_whom_the_server_does_not_know_is_told_so() throws IOException {
    Path file = Files.writeString(folder.resolve("wrong"), "mr_wrong");
    assertThat(run(file, "me").code()).isEqualTo(1);
    assertThat(run(file, "me").err()).contains("does not know these credentials", "--token-file");
  }

  @Test
  void a_revoked_key_is_refused() throws IOException {
    String key = done("create", "ann", "-r", "viewer", "--expires", "1d").strip();
    Path file = Files.writeString(folder.resolve("ann"), key);
    assertThat(run(file, "me").code()).isZero();
    assertThat(done("revoke", key.substring(3, 11))).contains("revoked");
    assertThat(run(file, "me").code()).isEqualTo(1);
    assertThat(run(admin, "revoke", key.substring(3, 11)).code()).isEqualTo(4);
  }

  @Test
  void a_password_comes_from_a_file_or_the_input() {
    Shell.CommandResult created =
        run(
            "a long password\n".getBytes(StandardCharsets.UTF_8),
            admin,
            "create",
            "ann",
            "-r",
            "viewer",
            "--password-file",
            "-");
    assertThat(created.code()).as(created.err()).isZero();
    assertThat(created.out()).contains("created principal ann");
    assertThat(done("set", "ann", "--no-password")).contains("changed");
  }

  @Test
  void what_is_wrong_is_said_in_one_line() {
    for (List<String> wrong :
        List.of(
            List.of("create", "a b", "-r", "viewer"),
            List.of("create", "root", "-r", "viewer"),
            List.of("create", "x", "-r", "king"))) {
      Shell.CommandResult ran = run(admin, wrong.toArray(String[]::new));
      assertThat(ran.code()).as(ran.err()).isEqualTo(3);
      assertThat(ran.err().lines()).hasSize(1);
    }
    for (List<String> wrong :
        List.of(
            List.of("create", "x"),
            List.of("create", "x", "-r", "viewer", "--expires", "soon"),
            List.of("set", "root"),
            List.of("set", "root", "--enable", "--disable"),
            List.of("create", "x", "-r", "viewer", "--password-file", "none"))) {
      assertThat(run(admin, wrong.toArray(String[]::new)).code()).isEqualTo(2);
    }
    assertThat(run(admin, "show", "nobody").code()).isEqualTo(4);
    assertThat(run(admin, "key", "nobody").code()).isEqualTo(4);
    assertThat(run(admin, "delete", "nobody").code()).isEqualTo(4);
  }

  private Shell.CommandResult audit(Path key, String... command) {
    return runIn("audit", new byte[0], key, command);
  }

  @Test
  void the_audit_log_is_shown_filtered_and_exported() throws IOException {
    String key = done("create", "ann", "-r", "operator").strip();
    Path file = Files.writeString(folder.resolve("ann"), key);
    done("set", "ann", "--note", "x");

    assertThat(audit(admin).out().lines().toList())
        .hasSize(4)
        .first()
        .asString()
        .startsWith("TIME");
    assertThat(audit(admin, "-n", "1").out()).contains("principal.change").contains("root");
    assertThat(audit(admin, "--id", "ann", "--since", "1h").out())
        .contains("principal.create")
        .contains("principal.change");
    assertThat(audit(admin, "--action", "principal.create", "--json").out())
        .startsWith("[{")
        .contains("\"first\":\"ann\"");
    assertThat(audit(admin, "--csv", "--principal", "root").out().lines()).hasSize(3);
    assertThat(audit(admin, "--all", "--json", "--principal", "root").out()).startsWith("[{");
    assertThat(audit(admin, "--to", "2001-01-01T00:00:00Z", "--json").out().strip())
        .isEqualTo("[]");
    assertThat(audit(file).out()).doesNotContain("principal");
  }

  @Test
  void wrong_options_of_the_audit_log_are_refused() {
    for (String wrong :
        List.of(
            "--result good",
            "--count 0",
            "--since 1h --from 2026-01-01T00:00:00Z",
            "--from yesterday",
            "--csv --json",
            "--all",
            "--csv --follow")) {
      assertThat(audit(admin, wrong.split(" ")).code()).as(wrong).isIn(2, 3);
      assertThat(audit(admin, wrong.split(" ")).err()).as(wrong).isNotEmpty();
    }
  }
}

package io.millrace.cli.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A secret that would cross a network unencrypted is warned about before it does. */
final class SecretsOnTheNetworkTest {
  /** A name that no resolver knows, so that nothing is sent to anybody. */
  private static final String ELSEWHERE = "http://server.invalid:8048";

  @TempDir private Path folder = Path.of("");
  private Path secret = Path.of("");

  @BeforeEach
  void write() throws IOException {
    secret = Files.writeString(folder.resolve("secret"), "hush");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:8048",
        "http://127.4.5.6",
        "http://localhost:8048",
        "http://[::1]:8048",
        "https://server.invalid"
      })
  void a_server_on_this_machine_or_behind_https_is_not_warned_about(String server) {
    assertThat(ServerLocation.warning(URI.create(server), "token")).isNull();
  }

  @Test
  void plain_http_to_another_machine_is_warned_about_if_there_is_a_secret() {
    URI server = URI.create(ELSEWHERE);
    assertThat(ServerLocation.warning(server, null)).isNull();
    assertThat(ServerLocation.warning(server, "token"))
        .startsWith("the token is sent to server.invalid unencrypted");
  }

  @Test
  void a_node_warns() throws IOException {
    // A node that cannot create its folder ends before it calls the server.
    Path file = Files.createFile(folder.resolve("file"));
    Shell.CommandResult ran =
        Shell.run(
            "node",
            "--server",
            ELSEWHERE,
            "--token-file",
            secret.toString(),
            "--data",
            file.toString());
    assertThat(ran.err()).contains("millrace: warning: the token is sent to server.invalid");
  }

  @ParameterizedTest
  @ValueSource(strings = {"token", "worker-token"})
  void a_worker_warns(String which) {
    Shell.CommandResult ran =
        Shell.run(
            "worker",
            "--server",
            ELSEWHERE,
            "--" + which + "-file",
            secret.toString(),
            "--",
            folder.resolve("no-such-command").toString());
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err())
        .contains(
            "millrace: warning: the " + which.replace('-', ' ') + " is sent to server.invalid");
  }

  @Test
  void a_member_warns() {
    Shell.CommandResult ran =
        Shell.run("member", "--documents", "store:" + ELSEWHERE, "--token-file", secret.toString());
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.err()).contains("millrace: warning: the token is sent to server.invalid");
  }
}

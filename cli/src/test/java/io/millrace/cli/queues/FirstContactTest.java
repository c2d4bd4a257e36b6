package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.remote.CuttableProxy;
import io.millrace.http.transport.Certificates;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.Status;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** A node and the server that it was told of. */
@Timeout(value = 360, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FirstContactTest {
  private final Path root;
  private final Path words;
  private final List<Program> programs = new ArrayList<>();

  FirstContactTest(@TempDir Path root) {
    this.root = root;
    this.words = root.resolve("node.log");
  }

  @AfterEach
  void close() throws IOException {
    programs.forEach(Program::kill);
    Program.killAll(root);
  }

  private Program start(String... options) throws IOException {
    List<String> command = new ArrayList<>(List.of("node", "--name", "n"));
    command.addAll(List.of("--data", root.resolve("node").toString()));
    command.addAll(List.of(options));
    Program program = Program.start(words, command);
    programs.add(program);
    return program;
  }

  /** A TLS proxy to a server, with the certificate named {@code server}. */
  private static CuttableProxy encrypted(QueueFixture site, Certificates certificates)
      throws IOException, GeneralSecurityException {
    return CuttableProxy.encrypted(URI.create(site.address()), certificates.server("server"));
  }

  @Test
  void tasks_are_run_for_a_server_behind_tls_whose_certificate_is_named() throws Exception {
    Certificates certificates = new Certificates(root);
    Path certificate = certificates.make("server");
    try (QueueFixture site = new QueueFixture(root.resolve("data"));
        CuttableProxy front = encrypted(site, certificates)) {
      Queue queue =
          site.queues().queues().create("q", "shell", Queue.Settings.DEFAULTS.withThreads(1));
      // Long output goes the other way, into the blob store.
      var params =
          JsonNodeFactory.instance
              .objectNode()
              .put("command", "head -c 20000 /dev/zero | tr '\\0' x");
      ObjectId task =
          site.queues().submission().submit(queue, List.of(params), Status.QUEUED).getFirst();

      start("--server", front.address().toString(), "--certificates", certificate.toString());

      Shell.CommandResult waited = site.run("tasks", "wait", task.hex(), "--timeout", "2m");
      assertThat(waited.code()).as(waited.err() + Files.readString(words)).isZero();
      assertThat(site.run("tasks", "tail", task.hex(), "--stdout").out())
          .isEqualTo("x".repeat(20_000));
    }
  }

  @Test
  void a_server_with_another_certificate_is_left_alone_and_the_node_ends_with_1() throws Exception {
    Certificates certificates = new Certificates(root);
    certificates.make("server");
    String other = certificates.make("other").toString();
    try (QueueFixture site = new QueueFixture(root.resolve("data"));
        CuttableProxy front = encrypted(site, certificates)) {
      Program node = start("--server", front.address().toString(), "--certificates", other);

      assertThat(node.ended()).isEqualTo(1);
      assertThat(Files.readString(words))
          .contains("\nmillrace: no answer from " + front.address())
          .contains("is not trusted", "--certificates names a file")
          .contains("stopped node n with exit code 1")
          .hasLineCount(5);
    }
  }

  @Test
  void a_server_that_wants_another_token_ends_the_node_with_1() throws Exception {
    Path right = Files.writeString(root.resolve("right"), "right-token-of-this-server\n");
    Path wrong = Files.writeString(root.resolve("wrong"), "wrong-token-of-this-server\n");
    try (MillraceServer server =
        MillraceServer.start(
            Configuration.read(
                MillraceServer.SECTIONS,
                null,
                Map.of(
                    "store.data", root.resolve("data").toString(),
                    "server.port", "0",
                    "server.token-file", right.toString())))) {
      String address = "http://127.0.0.1:" + server.port();
      Program node = start("--server", address, "--token-file", wrong.toString());

      assertThat(node.ended()).isEqualTo(1);
      assertThat(Files.readString(words))
          .contains("\nmillrace: " + address + " does not allow this: the token")
          .contains("stopped node n with exit code 1")
          .hasLineCount(4);
    }
  }

  @Test
  void a_server_that_is_away_is_waited_for_until_the_node_is_told_to_stop() throws Exception {
    String nobody;
    try (ServerSocket closed = new ServerSocket(0)) {
      nobody = "http://127.0.0.1:" + closed.getLocalPort();
    }
    Program node = start("--server", nobody);
    while (!Files.readString(words).contains("waiting for the server")) {
      assertThat(node.isAlive()).isTrue();
      LockSupport.parkNanos(5_000_000);
    }

    assertThat(node.stopped()).isZero();
  }
}

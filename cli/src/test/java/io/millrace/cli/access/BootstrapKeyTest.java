package io.millrace.cli.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The bootstrap key of a server that listens on all addresses, as a process. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BootstrapKeyTest {
  private static final Pattern PORT = Pattern.compile("http://[^ ]*:(\\d+) ");
  private static final String INDENT = "  ";
  private static final String PREFIX = "bootstrap-";

  private final Path root;
  private final HttpClient client = HttpClient.newHttpClient();
  private final List<Program> programs = new ArrayList<>();
  private Program.Ready server;
  private String address = "";

  BootstrapKeyTest(@TempDir Path root) throws IOException {
    this.root = root;
    server = up();
  }

  @BeforeEach
  void nobody_is_let_in_without_credentials() throws Exception {
    assertThat(status("")).isEqualTo(401);
  }

  @AfterEach
  void close() {
    programs.forEach(Program::kill);
    client.close();
  }

  private Program.Ready up() throws IOException {
    String data = root.resolve("data").toString();
    Program.Ready ready =
        Program.startReady(
            root.resolve("up.log"),
            List.of(
                "up",
                "--address",
                "0.0.0.0",
                "--set",
                "server.allow-unencrypted=true",
                "--port",
                "0",
                "--no-node",
                "--data",
                data));
    programs.add(ready.program());
    Matcher port = PORT.matcher(ready.line());
    assertThat(port.find()).as(ready.line()).isTrue();
    address = "http://127.0.0.1:" + port.group(1);
    return ready;
  }

  /** Reads the output of the server up to the bootstrap key, which it must print. */
  private String printedKey() throws IOException {
    for (String line = server.output().readLine();
        line != null;
        line = server.output().readLine()) {
      if (line.startsWith(INDENT + PREFIX)) {
        return line.substring(INDENT.length());
      }
    }
    throw new AssertionError("no bootstrap key: " + Files.readString(root.resolve("up.log")));
  }

  /** Stops the server, and returns its output that was not read yet. */
  private String stop() throws Exception {
    // Process.destroy would discard the output.
    assertThat(ProcessHandle.of(server.program().pid()).orElseThrow().destroy()).isTrue();
    assertThat(server.program().ended()).isZero();
    return String.join("\n", server.output().lines().toList());
  }

  /** The status of a request that only administrators may make. */
  private int status(String key) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address + "/access/keys"));
    if (!key.isEmpty()) {
      request.header("Authorization", "Bearer " + key);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  /** Creates an administrator over HTTP with this key, and returns the new key. */
  private String createAdmin(String key) throws IOException {
    Path created = root.resolve("admin.key");
    Shell.CommandResult ran =
        Shell.run(
            "access",
            "create",
            "alice",
            "--role",
            "admin",
            "--key-file",
            created.toString(),
            "--server",
            address,
            "--token-file",
            Files.writeString(root.resolve("bootstrap.key"), key).toString());
    assertThat(ran.code()).as(ran.err()).isZero();
    return Files.readString(created).strip();
  }

  @Test
  void it_is_printed_once_and_ends_with_the_first_key_of_an_administrator() throws Exception {
    String bootstrap = printedKey();
    assertThat(status(bootstrap)).isEqualTo(200);

    String admin = createAdmin(bootstrap);

    assertThat(status(bootstrap)).isEqualTo(403);
    assertThat(status(admin)).isEqualTo(200);
    assertThat(stop()).doesNotContain(PREFIX);
    assertThat(root.resolve("up.log")).content().doesNotContain(bootstrap);

    server = up();
    assertThat(status(bootstrap)).isEqualTo(403);
    assertThat(status(admin)).isEqualTo(200);
    assertThat(stop()).doesNotContain(PREFIX);
  }

  @Test
  void a_restart_before_there_is_an_administrator_prints_another_one() throws Exception {
    String first = printedKey();
    stop();

    server = up();
    String second = printedKey();
    assertThat(second).isNotEqualTo(first);
    assertThat(status(first)).isEqualTo(403);
    assertThat(status(second)).isEqualTo(200);
  }

  @Test
  void a_wrong_key_of_the_same_form_is_refused() throws Exception {
    String key = printedKey();
    char last = key.charAt(key.length() - 1);
    String wrong = key.substring(0, key.length() - 1) + (last == '0' ? '1' : '0');
    assertThat(status(wrong)).isEqualTo(403);
    assertThat(status(key + "0")).isEqualTo(403);
    assertThat(status(PREFIX)).isEqualTo(403);
  }
}

package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.http.transport.Certificates;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Requests without encryption to a server that encrypts, from this machine and from another one.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OtherMachineTest {
  private static final String TOKEN = "token-of-the-test";
  private static final Pattern PORT = Pattern.compile("https://[^ ]*:(\\d+) ");

  private final Path root;

  OtherMachineTest(@TempDir Path root) {
    this.root = root;
  }

  @Test
  void only_those_of_the_same_machine_are_served() throws Exception {
    Network.assumePossible();
    Certificates certificates = new Certificates(root);
    Path certificate = certificates.make("server");
    Path token = Files.writeString(root.resolve("token"), TOKEN);
    Network other = Network.make(2);
    Program.Ready server =
        Program.startReady(
            root.resolve("up.log"),
            List.of(
                "up",
                "--no-node",
                "--port=0",
                "--data=" + root.resolve("data"),
                "--set=server.address=0.0.0.0",
                "--set=server.tls.certificate=" + certificate,
                "--set=server.tls.key=" + certificates.key("server"),
                "--set=server.token-file=" + token));
    try {
      Matcher port = PORT.matcher(server.line());
      assertThat(port.find()).as(server.line()).isTrue();
      int number = Integer.parseInt(port.group(1));
      String form = "{\"name\": \"made\", \"plugin\": \"shell\"}";
      String answer =
          other.exchange(
              other.outside(),
              number,
              "POST /dci/queues HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer %s\\r\\n"
                      .formatted(TOKEN)
                  + "Content-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n%s"
                      .formatted(form.getBytes(StandardCharsets.UTF_8).length, form),
              root.resolve("answer"));
      assertThat(answer).startsWith("HTTP/1.1 400 ").contains("https").doesNotContain(TOKEN);

      Shell.CommandResult queues =
          Shell.run(
              "queues",
              "list",
              "--server",
              "http://" + other.outside() + ":" + number,
              "--token-file",
              token.toString());
      assertThat(queues.code()).as(queues.err()).isZero();
      assertThat(queues.out()).doesNotContain("made");
    } finally {
      server.program().kill();
      other.delete();
    }
  }
}

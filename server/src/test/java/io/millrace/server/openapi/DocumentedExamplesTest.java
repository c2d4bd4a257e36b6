package io.millrace.server.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples in the description of the HTTP API do what they say, on a new server. */
final class DocumentedExamplesTest {
  private static final Path DOCUMENT = Path.of("../docs/api.md");
  private static final Pattern EXAMPLE = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);

  /** A request that is refused fails. */
  private static final String SHELL =
      "set -eu -o pipefail; curl() { command curl --no-progress-meter --fail-with-body \"$@\"; }\n";

  @Test
  void every_example_runs_in_its_order(@TempDir Path folder) throws Exception {
    List<String> examples =
        EXAMPLE
            .matcher(Files.readString(DOCUMENT))
            .results()
            .map(MatchResult::group)
            .map(block -> block.replace("```sh\n", "").replace("```", ""))
            .toList();
    try (TestServer server = TestServer.in(folder)) {
      for (String example : examples) {
        String script = SHELL + example.replace("localhost:8048", "127.0.0.1:" + server.port());
        Process shell = new ProcessBuilder("bash", "-c", script).redirectErrorStream(true).start();
        shell.getOutputStream().close();
        String printed = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(shell.waitFor()).as("%s%n%s", example, printed).isZero();
      }
    }
  }

  @Test
  void every_section_with_requests_has_an_example() throws IOException {
    List<String> without = new ArrayList<>();
    for (String section : Files.readString(DOCUMENT).split("\n(?=##)", -1)) {
      boolean requests = section.contains("| `GET /") || section.startsWith("### `");
      if (requests && !section.contains("```sh\n")) {
        without.add(section.lines().findFirst().orElse(""));
      }
    }
    assertThat(without).isEmpty();
  }
}

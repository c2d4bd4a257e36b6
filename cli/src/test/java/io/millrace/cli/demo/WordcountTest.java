package io.millrace.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.examples.wordcount.Wordcount;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The demonstration as it runs for a user: real processes, really killed. */
class WordcountTest {
  @Test
  @Timeout(value = 6, unit = TimeUnit.MINUTES)
  void no_word_is_lost_or_doubled_by_killed_workers_and_a_killed_server() {
    byte[] text = "one two THREE two-three! three\nfour x".getBytes(StandardCharsets.US_ASCII);
    Shell.CommandResult ran = Shell.run(text, "demo", "wordcount", "--json", "--seed", "1", "-");
    assertThat(ran.code()).as(ran.err()).isZero();
    JsonNode counts = new JsonMapper().readTree(ran.out()).get("counts");
    assertThat(counts)
        .isEqualTo(
            new JsonMapper().readTree("{\"one\":1,\"two\":2,\"three\":3,\"four\":1,\"x\":1}"));
    assertThat(ran.err().lines().filter(line -> line.contains("killed worker")))
        .hasSizeGreaterThan(1);
    assertThat(ran.err().lines().filter(line -> line.contains("killed the server"))).hasSize(1);
  }

  @Test
  @Timeout(value = 6, unit = TimeUnit.MINUTES)
  void the_shipped_text_has_the_counts_that_the_tools_of_the_system_find(@TempDir Path folder)
      throws Exception {
    Path text = folder.resolve("millrace.txt");
    try (InputStream shipped = Wordcount.class.getResourceAsStream("millrace.txt")) {
      Files.copy(Objects.requireNonNull(shipped), text);
    }
    Map<String, Long> expected = counted(text);
    assertThat(expected).hasSizeGreaterThan(100);

    Shell.CommandResult ran = Shell.run("demo", "wordcount", "--json", "--seed", "2");
    assertThat(ran.code()).as(ran.err()).isZero();
    Map<String, Long> counts = new TreeMap<>();
    new JsonMapper()
        .readTree(ran.out())
        .get("counts")
        .properties()
        .forEach(count -> counts.put(count.getKey(), count.getValue().asLong()));
    assertThat(counts).isEqualTo(expected);
  }

  /** What the command line counts that the demonstration must agree with. */
  private static Map<String, Long> counted(Path text) throws IOException, InterruptedException {
    ProcessBuilder command =
        new ProcessBuilder(
            "sh",
            "-c",
            "cat \"$0\" | tr '[:upper:]' '[:lower:]' | tr -cs '[:alpha:]' '\\n' | grep . | sort"
                + " | uniq -c",
            text.toString());
    command.environment().put("LC_ALL", "C");
    command.redirectError(ProcessBuilder.Redirect.INHERIT);
    Process process = command.start();
    Map<String, Long> counts = new TreeMap<>();
    try (BufferedReader lines = process.inputReader(StandardCharsets.US_ASCII)) {
      lines
          .lines()
          .map(line -> line.strip().split(" "))
          .forEach(line -> counts.put(line[1], Long.valueOf(line[0])));
    }
    assertThat(process.waitFor()).isZero();
    return counts;
  }
}

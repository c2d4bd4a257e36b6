package io.millrace.cli.wordcount;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The demonstration as it runs for a user: real processes, really killed. */
class WordcountTest {
  @Test
  @Timeout(value = 2, unit = TimeUnit.MINUTES)
  void no_word_is_lost_or_doubled_by_killed_workers_and_a_killed_server() {
    byte[] text = "one two THREE two-three! three\nfour x".getBytes(StandardCharsets.US_ASCII);
    Shell.Ran ran = Shell.run(text, "demo", "wordcount", "--json", "--seed", "1", "-");
    assertThat(ran.code()).as(ran.err()).isZero();
    JsonNode counts = new JsonMapper().readTree(ran.out()).get("counts");
    assertThat(counts)
        .isEqualTo(
            new JsonMapper().readTree("{\"one\":1,\"two\":2,\"three\":3,\"four\":1,\"x\":1}"));
    assertThat(ran.err().lines().filter(line -> line.contains("killed worker")))
        .hasSizeGreaterThan(1);
    assertThat(ran.err().lines().filter(line -> line.contains("killed the server"))).hasSize(1);
  }
}

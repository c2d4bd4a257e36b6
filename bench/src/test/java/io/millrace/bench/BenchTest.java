package io.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BenchTest {
  @TempDir Path folder;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  private Bench.Options options(String scenario, @Nullable Path json) {
    return new Bench.Options(
        Set.of(scenario),
        Duration.ofMillis(60),
        json,
        folder,
        List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"),
        10_000,
        scenario.equals("archive") ? 500 : 0,
        List.of(),
        new PrintStream(printed, true, StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "in-process",
        "http",
        "http-batches",
        "java-client",
        "queues-create",
        "graph",
        "jobs",
        "jobs-idle",
        "archive",
        "snapshot",
        "limits",
        "stores",
        "backlog-10m"
      })
  void each_scenario_measures_something_and_leaves_no_files(String scenario) throws Exception {
    List<Measurement> measurements = Bench.run(options(scenario, null));

    assertThat(measurements).isNotEmpty();
    assertThat(measurements)
        .allSatisfy(measurement -> {
          assertThat(measurement.scenario()).isEqualTo(scenario);
          assertThat(measurement.value()).isNotNaN();
        });
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains(measurements.getFirst().what())
        .contains(measurements.getLast().what());
    try (var left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void figures_are_written_as_json() throws Exception {
    Path json = folder.resolve("figures.json");

    List<Measurement> measurements = Bench.run(options("snapshot", json));

    assertThat(Files.readString(json)).contains(measurements.getFirst().what(), "\"p99Micros\"");
  }

  @Test
  void an_unknown_scenario_is_named_and_the_known_are_listed() {
    assertThatThrownBy(() -> Bench.run(options("htp", null)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("htp")
        .hasMessageContaining("http-batches");
  }

  @Test
  void the_bare_loop_leaves_no_file() throws IOException {
    double groups =
        EmbeddedThroughput.SyncedWrites.groupsPerSecond(folder, 100, Duration.ofMillis(20));

    assertThat(groups).isPositive();
    try (var left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
  }
}

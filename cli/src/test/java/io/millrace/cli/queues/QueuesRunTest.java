package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.bench.Bench;
import io.millrace.bench.Measurement;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The measurements of queue tasks that need the whole program. */
class QueuesRunTest {
  @ParameterizedTest
  @CsvSource({"queues-run, 5", "queues-idle, 4"})
  void tasks_are_measured_and_neither_files_nor_processes_are_left(
      String scenario, int count, @TempDir Path folder) throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    List<Measurement> measurements =
        Bench.run(
            new Bench.Options(
                Set.of(scenario),
                Duration.ofMillis(60),
                null,
                folder,
                List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"),
                50,
                0,
                List.of(),
                new PrintStream(printed, true, StandardCharsets.UTF_8)));

    assertThat(measurements).as(printed.toString(StandardCharsets.UTF_8)).hasSize(count);
    assertThat(measurements)
        .allSatisfy(measurement -> assertThat(measurement.value()).isNotNegative());
    try (var left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
    assertThat(Program.speakingOf(folder)).isEmpty();
  }
}

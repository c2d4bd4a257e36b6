package io.millrace.cluster.documents.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Processes on one folder, which are killed and stopped in the middle of whatever they do. */
@Timeout(120)
final class ProcessesTest {
  private static final int ROUNDS = 4;
  private static final int STEPS = 20;

  @TempDir private Path folder;
  private final List<Counter> counters = new ArrayList<>();

  @AfterEach
  void end() {
    counters.forEach(counter -> counter.process.destroyForcibly());
  }

  /** A process with how far it has said to be. */
  private static final class Counter {
    final String name;
    final Process process;
    final BufferedReader output;
    int said;

    Counter(String name, Path folder) throws IOException {
      this.name = name;
      String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
      process =
          new ProcessBuilder(
                  java,
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  System.getProperty("java.class.path"),
                  CountingProcess.class.getName(),
                  folder.toString(),
                  name)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      output = process.inputReader();
    }

    /** Reads on until it has come this many steps further, or to its end. */
    void follow(int steps) throws IOException {
      for (long until = (long) said + steps; said < until; ) {
        String line = output.readLine();
        if (line == null) {
          return;
        }
        assertThat(line).as("what %s says", name).isEqualTo(Integer.toString(said + 1));
        said++;
      }
    }

    void signal(String signal) throws IOException, InterruptedException {
      Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
      assertThat(kill.waitFor()).isZero();
    }
  }

  private Counter start() throws IOException {
    Counter counter = new Counter("p" + counters.size(), folder);
    counters.add(counter);
    return counter;
  }

  @Test
  void processes_that_are_killed_or_stopped_lose_nothing_and_block_nobody() throws Exception {
    Counter steady = start();
    Counter stopped = start();
    Counter killed = start();
    for (int round = 0; round < ROUNDS; round++) {
      stopped.follow(1 + round);
      killed.follow(1 + round);
      stopped.signal("STOP");
      steady.follow(STEPS);
      killed.signal("KILL");
      assertThat(killed.process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      killed.follow(Integer.MAX_VALUE);
      // Long enough that what the stopped one has seen is cleared away.
      steady.follow(4 * STEPS);
      killed = start();
      killed.follow(1);
      stopped.signal("CONT");
    }
    stopped.follow(STEPS);
    for (Counter counter : counters) {
      if (counter.process.isAlive()) {
        counter.signal("KILL");
        assertThat(counter.process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      }
      counter.follow(Integer.MAX_VALUE);
    }
    Map<String, Integer> counted = counted();
    for (Counter counter : counters) {
      // What was on its way when it was killed may count, what it has said does.
      assertThat(counted.get(counter.name)).isBetween(counter.said, counter.said + 1);
    }
    try (FileDocuments documents = FileDocuments.open(folder)) {
      documents
          .get("brief")
          .ifPresent(left -> assertThat(documents.delete("brief", left.version())).isTrue());
      assertThat(documents.list("")).hasSize(1);
    }
  }

  private Map<String, Integer> counted() {
    Map<String, Integer> counted = new TreeMap<>();
    try (FileDocuments documents = FileDocuments.open(folder)) {
      JsonNode counts = new JsonMapper().readTree(documents.get("counter").orElseThrow().json());
      counts.properties().forEach(one -> counted.put(one.getKey(), one.getValue().asInt()));
    }
    return counted;
  }
}

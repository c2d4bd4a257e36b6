package io.millrace.cluster.documents.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A {@link CountingProcess}, with how far it has said to be. */
final class Counter {
  private final String name;
  private final Process process;
  private final BufferedReader output;
  private int said;

  private Counter(String name, Process process) {
    this.name = name;
    this.process = process;
    output = process.inputReader();
  }

  /** Starts one in a folder. */
  static Counter start(Path folder, String name) throws IOException {
    return start(List.of(), System.getProperty("java.class.path"), folder, name);
  }

  /**
   * Starts one by another program.
   *
   * @param by the program and its arguments, which the command is added to
   * @param classes the class path
   */
  static Counter start(List<String> by, String classes, Path folder, String name)
      throws IOException {
    List<String> command = new ArrayList<>(by);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp", classes));
    command.addAll(List.of(CountingProcess.class.getName(), folder.toString(), name));
    return new Counter(
        name, new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
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

  /** Has it stand still, or go on. */
  void signal(String signal) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  /** Ends it by signal 9, if it has not ended. */
  void kill() {
    // The process itself would take along what it has said.
    process.toHandle().destroyForcibly();
    try {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** How many steps it has said to have made. */
  int said() {
    return said;
  }

  /** Each has counted as far as it has said, all of them having ended and been followed. */
  static void check(Path folder, List<Counter> counters) {
    try (FileDocuments documents = FileDocuments.open(folder)) {
      JsonNode counts = new JsonMapper().readTree(documents.get("counter").orElseThrow().json());
      for (Counter counter : counters) {
        // What was on its way when it was killed may count, what it has said does.
        assertThat(counts.path(counter.name).asInt())
            .as(counter.name)
            .isBetween(counter.said, counter.said + 1);
      }
    }
  }
}

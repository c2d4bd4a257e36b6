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

/** A running {@link CountingProcess}, and the number of steps that it has reported. */
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

  /** Starts a process in a folder. */
  static Counter start(Path folder, String name) throws IOException {
    return start(List.of(), System.getProperty("java.class.path"), folder, name);
  }

  /**
   * Starts a process by another program.
   *
   * @param by the program and its arguments, to which the command is appended
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

  /** Reads its output until it has made this many more steps, or has ended. */
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

  /** Stops or continues the process. */
  void signal(String signal) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  /** Kills the process with SIGKILL, if it is running. */
  void kill() {
    // Destroying the process object would discard its output.
    process.toHandle().destroyForcibly();
    try {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The number of steps that it has reported. */
  int said() {
    return said;
  }

  /**
   * Requires that the counters match the reported steps, when all processes have ended and their
   * output was read.
   */
  static void check(Path folder, List<Counter> counters) {
    try (FileDocuments documents = FileDocuments.open(folder)) {
      JsonNode counts = new JsonMapper().readTree(documents.get("counter").orElseThrow().json());
      for (Counter counter : counters) {
        // A step in progress when the process was killed may count; reported steps must.
        assertThat(counts.path(counter.name).asInt())
            .as(counter.name)
            .isBetween(counter.said, counter.said + 1);
      }
    }
  }
}

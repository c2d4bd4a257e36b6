package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Everything is restarted in turn while work runs, as docs/operations.md says. */
class RollingRestartTest {
  private static final JsonMapper JSON = new JsonMapper();

  /** A command that notes its start, and ends when a file is there. */
  private static final String GATED =
      "echo %2$s >> %1$s/begun; while [ ! -e %1$s/go ]; do sleep 0.05; done; echo %2$s >>"
          + " %1$s/ended";

  private final Path root;
  private final Map<String, Program> programs = new LinkedHashMap<>();
  private String address = "";

  RollingRestartTest(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() throws IOException {
    programs.values().forEach(Program::kill);
    Program.killAll(root);
  }

  private String start(String name, String... command) throws IOException {
    Program.Ready ready = Program.startReady(root.resolve(name + ".log"), List.of(command));
    programs.put(name, ready.program());
    return ready.line();
  }

  private Program program(String name) {
    return Objects.requireNonNull(programs.get(name));
  }

  private void stop(String name) throws InterruptedException {
    assertThat(program(name).stopped()).as(name).isZero();
  }

  private void startServer(int port) throws IOException {
    String line =
        start("server", "up", "--no-node", "--port=" + port, "--data=" + root.resolve("server"));
    int from = line.indexOf("http://");
    address = line.substring(from, line.indexOf(' ', from));
  }

  private void startNode(String name) throws IOException {
    start(
        name,
        "node",
        "--server=" + address,
        "--name=" + name,
        "--data=" + root.resolve(name),
        "--warm-runners=0");
  }

  private void startWorker(String name) throws IOException {
    start(
        name,
        "worker",
        "--server=" + address,
        "--name=" + name,
        "-j2",
        "--",
        "sh",
        "-c",
        GATED.formatted(root, "job-$MILLRACE_JOB_KEY"));
  }

  private Shell.CommandResult run(String input, String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    all.add("--server=" + address);
    Shell.CommandResult ran =
        Shell.run(input.getBytes(StandardCharsets.UTF_8), all.toArray(String[]::new));
    assertThat(ran.code()).as("%s: %s", all, ran.err()).isZero();
    return ran;
  }

  private String submitTask(String name) {
    return run("", "tasks", "submit", "q", "command=" + GATED.formatted(root, name)).out().strip();
  }

  private JsonNode shown(String... command) {
    return JSON.readTree(run("", command).out());
  }

  private List<String> lines(String file) {
    Path path = root.resolve(file);
    try {
      return Files.exists(path) ? Files.readAllLines(path) : List.of();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(10_000_000);
    }
  }

  @Test
  void no_task_and_no_job_is_lost_or_run_twice_if_all_are_restarted_in_turn() throws Exception {
    startServer(0);
    run("", "queues", "create", "q", "--plugin=shell", "--threads=4");
    startNode("n1");
    String first = submitTask("task-1");
    await(() -> lines("begun").size() == 1);

    // A node that is drained takes no more, and its tasks may go on.
    run("", "nodes", "set", "n1", "--maxthreads=0");
    String second = submitTask("task-2");
    startNode("n2");
    await(() -> lines("begun").contains("task-2"));
    assertThat(shown("tasks", "show", second, "--json").path(0).path("node").asString())
        .isEqualTo("n2");
    assertThat(shown("tasks", "show", first, "--json").path(0).path("node").asString())
        .isEqualTo("n1");

    stop("server");
    startServer(URI.create(address).getPort());
    stop("n1");
    startNode("n1");
    run("", "nodes", "set", "n1", "--maxthreads=none");

    startWorker("w1");
    for (String job : List.of("a", "b", "c", "d")) {
      run("input", "jobs", "submit", "-", "-k", job);
    }
    await(() -> lines("begun").size() == 4);

    // The new worker is there before the old one stops, which finishes its jobs.
    startWorker("w2");
    Program old = program("w1");
    await(() -> lines("begun").size() == 6);
    ProcessHandle.of(old.pid()).orElseThrow().destroy();
    await(() -> lines("w1.log").toString().contains("stopping when 2"));
    Files.createFile(root.resolve("go"));

    assertThat(old.ended()).isZero();
    run("", "tasks", "wait", first, second, "--timeout=1m");
    await(() -> lines("ended").size() == 6);
    assertThat(lines("ended")).hasSize(6).doesNotHaveDuplicates();
    assertThat(lines("begun")).containsExactlyInAnyOrderElementsOf(lines("ended"));
    for (String job : List.of("a", "b", "c", "d")) {
      run("", "jobs", "wait", job, "--timeout=1m");
      assertThat(shown("jobs", "show", job, "--json").path("failures").asInt()).as(job).isZero();
    }
  }
}

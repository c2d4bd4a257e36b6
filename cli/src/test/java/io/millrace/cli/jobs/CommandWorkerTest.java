package io.millrace.cli.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.Watchdog;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Workers that run commands. */
@Timeout(120)
class CommandWorkerTest {
  @TempDir private Path scratch = Path.of("");
  private JobFixture site;
  private Watchdog watchdog;

  @BeforeEach
  void open() {
    site = new JobFixture(scratch.resolve("data"));
    watchdog = new Watchdog(ProcessLauncher.create(), null);
  }

  @AfterEach
  void close() {
    site.close();
    watchdog.close();
  }

  private void worker(JobWorkerOptions options, String script) throws Exception {
    List<String> command = List.of("sh", "-c", script);
    site.worker(options, new CommandHandler(command, "", watchdog));
  }

  private JsonNode job(String key) {
    return site.shown("jobs", "show", key).path(0);
  }

  private String done(String input, String key) {
    var ran = site.runReading(input, "jobs", "submit", "-", "-k", key, "-o", "-");
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out();
  }

  private ProcessHandle process(Path pidFile) throws IOException {
    return ProcessHandle.of(pid(pidFile)).orElseThrow();
  }

  private static long pid(Path pidFile) throws IOException {
    String pid = "";
    while (pid.isBlank()) {
      LockSupport.parkNanos(5_000_000);
      pid = Files.exists(pidFile) ? Files.readString(pidFile) : "";
    }
    return Long.parseLong(pid.strip());
  }

  @Test
  void a_command_reads_the_payload_and_writes_the_result() throws Exception {
    worker(site.options("w"), "tr a-z A-Z; echo \" $MILLRACE_JOB_KEY $MILLRACE_JOB_TOKEN\"");
    assertThat(done("hello", "k")).matches("HELLO k [1-9][0-9]*\n");
  }

  @Test
  void a_command_need_not_read_its_payload() throws Exception {
    worker(site.options("w"), "echo ok");
    assertThat(done("x".repeat(3_000_000), "k")).isEqualTo("ok\n");
  }

  @Test
  void a_command_that_fails_says_why() throws Exception {
    worker(
        site.options("w"), "echo partial; echo 'first line' >&2; echo 'no such page' >&2; exit 3");
    assertThat(site.runReading("x", "jobs", "submit", "-", "-k", "k").code()).isZero();
    JsonNode history = job("k").path("history");
    while (history.isEmpty()) {
      LockSupport.parkNanos(5_000_000);
      history = job("k").path("history");
    }
    assertThat(history.path(0).path("info").asString()).isEqualTo("exit code 3: no such page");
    assertThat(history.path(0).path("logs").asString()).isEqualTo("first line\nno such page\n");
  }

  @Test
  void a_command_tells_how_far_it_is_and_dies_with_its_job() throws Exception {
    Path pid = scratch.resolve("pid");
    worker(
        site.options("w"),
        "echo 'progress: 40 half done' >&2; sleep 1000 & echo $! > " + pid + "; wait");
    assertThat(site.runReading("x", "jobs", "submit", "-", "-k", "k").code()).isZero();
    while (!job("k").path("progress").path("info").asString("").equals("half done")) {
      LockSupport.parkNanos(5_000_000);
    }
    ProcessHandle child = process(pid);
    assertThat(site.run("jobs", "cancel", "k").code()).isZero();
    child.onExit().get(60, TimeUnit.SECONDS);
  }

  @Test
  void what_a_command_leaves_behind_ends_with_it() throws Exception {
    Path pid = scratch.resolve("pid");
    worker(site.options("w"), "sleep 1000 & echo $! > " + pid);
    assertThat(done("x", "k")).isEmpty();
    // It may be gone by now.
    ProcessHandle.of(pid(pid))
        .ifPresent(left -> left.onExit().orTimeout(60, TimeUnit.SECONDS).join());
  }

  private static Process program(Path errors, List<String> arguments) throws IOException {
    return program(errors, List.of(), arguments);
  }

  private static Process program(Path errors, List<String> flags, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-Dlogback.configurationFile=logback.xml"));
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add("io.millrace.cli.Millrace");
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(errors.toFile()).start();
  }

  @Test
  void workers_of_one_machine_differ_so_that_each_gets_what_failed_on_the_other() throws Exception {
    Path errors = scratch.resolve("errors");
    List<String> arguments =
        List.of("worker", "--server", site.address(), "--", "sh", "-c", "exit 3");
    Process one = program(errors, arguments);
    Process other = program(errors, arguments);
    try (BufferedReader first = one.inputReader();
        BufferedReader second = other.inputReader()) {
      assertThat(first.readLine()).startsWith("Millrace worker");
      assertThat(second.readLine()).startsWith("Millrace worker");
      assertThat(site.runReading("x", "jobs", "submit", "-", "-k", "k").code()).isZero();
      while (job("k").path("history").size() < 2) {
        assertThat(one.isAlive()).isTrue();
        LockSupport.parkNanos(5_000_000);
      }
      assertThat(site.shown("workers"))
          .extracting(worker -> worker.path("id").asString())
          .satisfiesExactlyInAnyOrder(
              id -> assertThat(id).endsWith("-" + one.pid()),
              id -> assertThat(id).endsWith("-" + other.pid()));
    } finally {
      one.destroyForcibly();
      other.destroyForcibly();
    }
  }

  @Test
  void the_first_signal_lets_a_command_end_and_the_second_kills_it() throws Exception {
    Path pid = scratch.resolve("pid");
    Path errors = scratch.resolve("errors");
    Path go = scratch.resolve("go");
    String script =
        "echo $$ > %s; while [ ! -e %s ]; do sleep 0.1; done; cat; rm %s %s"
            .formatted(pid, go, go, pid);
    List<String> arguments =
        List.of("worker", "--server", site.address(), "--name", "w", "--", "sh", "-c", script);
    Process first = program(errors, arguments);
    try (BufferedReader out = first.inputReader()) {
      assertThat(out.readLine()).startsWith("Millrace worker w takes jobs from " + site.address());
      assertThat(site.runReading("bytes", "jobs", "submit", "-", "-k", "a").code()).isZero();
      assertThat(process(pid).isAlive()).isTrue();
      first.destroy();
      while (!Files.readString(errors).contains("stopping when 1")) {
        assertThat(first.isAlive()).isTrue();
        LockSupport.parkNanos(5_000_000);
      }
      Files.createFile(go);
      assertThat(first.waitFor()).as(Files.readString(errors)).isZero();
    } finally {
      first.destroyForcibly();
    }
    assertThat(site.run("jobs", "result", "a").out()).isEqualTo("bytes");

    Process second = program(errors, arguments);
    try (BufferedReader out = second.inputReader()) {
      assertThat(out.readLine()).startsWith("Millrace worker");
      assertThat(site.runReading("bytes", "jobs", "submit", "-", "-k", "b").code()).isZero();
      ProcessHandle shell = process(pid);
      second.destroy();
      while (!Files.readString(errors).contains("stopping when 1")) {
        assertThat(second.isAlive()).isTrue();
        LockSupport.parkNanos(5_000_000);
      }
      second.destroy();
      assertThat(second.waitFor()).as(Files.readString(errors)).isOne();
      shell.onExit().get(60, TimeUnit.SECONDS);
    } finally {
      second.destroyForcibly();
    }
    assertThat(job("b").path("failures").asInt()).isZero();
  }

  @Test
  void a_worker_that_is_killed_takes_its_commands_with_it_and_leaves_no_files() throws Exception {
    Path pid = scratch.resolve("pid");
    Path temporary = Files.createDirectory(scratch.resolve("temporary"));
    Process worker =
        program(
            scratch.resolve("errors"),
            List.of("-Djava.io.tmpdir=" + temporary),
            List.of(
                "worker",
                "--server",
                site.address(),
                "--",
                "sh",
                "-c",
                "cat; echo $$ > " + pid + "; sleep 1000"));
    try {
      String payload = "x".repeat(1_000_000);
      assertThat(site.runReading(payload, "jobs", "submit", "-", "-k", "k").code()).isZero();
      ProcessHandle shell = process(pid);
      worker.destroyForcibly().waitFor();
      shell.onExit().get(60, TimeUnit.SECONDS);
    } finally {
      worker.destroyForcibly();
    }
    assertThat(temporary).isEmptyDirectory();
  }

  @Test
  void what_is_wrong_is_said_before_anything_starts() {
    expect("nope was not found", "worker", "--", "nope");
    expect("not an executable", "worker", "--", "/etc/passwd");
    expect("concurrency", "worker", "-j", "0", "--", "true");
    expect("COMMAND", "worker");
    expect("id has 1 to", "worker", "--id", "", "--", "true");
    expect("cannot read the worker token file", "worker", "--worker-token-file", "nope", "true");
  }

  private static void expect(String message, String... command) {
    Shell.CommandResult ran = Shell.run(command);
    assertThat(ran.code()).as(ran.err()).isEqualTo(2);
    assertThat(ran.err()).startsWith("millrace: ").contains(message);
  }

  @Test
  void a_server_that_does_not_let_it_in_ends_it() {
    Shell.CommandResult ran = Shell.run("worker", "--server", site.address(), "-t", "nope", "true");
    assertThat(ran.code()).as(ran.err()).isEqualTo(1);
    assertThat(ran.err()).contains("no job types").hasLineCount(1);
  }
}

package io.millrace.processes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProcessSpawnerTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  private final ProcessLauncher launcher = ProcessLauncher.create();
  private final ProcessSpawner spawner = launcher.spawner();
  private final Path root;
  private final Path folder;

  ProcessSpawnerTest(@TempDir Path root) {
    this.root = root;
    this.folder = root.resolve("a folder");
  }

  @AfterEach
  void close() {
    spawner.close();
  }

  /** The JVM to be killed: starts a program and then waits for ever. */
  static final class Victim {
    private Victim() {}

    public static void main(String[] arguments) throws InterruptedException {
      List<String> command = List.of("sh", "-c", arguments[2]);
      RunningProcess process =
          ProcessLauncher.create()
              .spawner()
              .start(
                  ProcessSpec.of(command, Path.of(arguments[0]))
                      .withOutput(Output.valueOf(arguments[1])),
                  InputStream.nullInputStream());
      System.out.println(process.identity());
      Thread.currentThread().join();
    }
  }

  @ParameterizedTest
  @EnumSource(Output.class)
  void a_program_has_what_it_is_given_and_its_output_and_exit_are_kept(Output output) {
    String odd = "it's \"odd\" $HOME `x` \\ \n two";
    ProcessSpec spec =
        ProcessSpec.of(
                List.of("sh", "-c", "cat; printf '%s|%s' \"$X\" \"$1\"; exit 3", "x", odd), folder)
            .withEnvironment(Map.of("X", odd))
            .withOutput(output);

    RunningProcess process = spawner.start(spec, new ByteArrayInputStream("in ".getBytes(UTF_8)));

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(3));
    Output.Kind kind = output == Output.MIXED ? Output.Kind.MIXED : Output.Kind.STDOUT;
    assertThat(text(process, kind)).isEqualTo("in " + odd + "|" + odd);
  }

  @Test
  void a_program_leads_a_session_of_its_own_and_is_deaf_to_no_signal() {
    String script = "cut -d ' ' -f 5,6 /proc/$$/stat; grep SigIgn /proc/self/status";
    RunningProcess process = start("sh", "-c", script);

    process.onExit().join();

    long pid = process.identity().pid();
    // Signals from 32 on are the C library's own.
    assertThat(text(process, Output.Kind.STDOUT))
        .startsWith(pid + " " + pid + "\n")
        .matches("(?s).*SigIgn:\\t[0-9a-f]{8}[08]0000000\n");
  }

  @Test
  void a_supervisor_is_used_again_and_there_are_no_more_than_run_at_a_time() {
    Set<ProcessIdentity> supervisors = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      Path own = root.resolve("p" + i);
      spawner
          .start(ProcessSpec.of(List.of("true"), own), InputStream.nullInputStream())
          .onExit()
          .join();
      supervisors.add(new ProcessFolder(own).identities().orElseThrow().supervisor());
    }

    // The last one may not be idle quite yet when the next program comes.
    assertThat(supervisors).hasSizeLessThanOrEqualTo(3);
  }

  @Test
  void a_program_that_has_only_just_begun_is_ended() {
    for (int i = 0; i < 10; i++) {
      RunningProcess process =
          spawner.start(
              ProcessSpec.of(List.of("sleep", "1000"), root.resolve("p" + i)),
              InputStream.nullInputStream());
      Signal signal = i % 2 == 0 ? Signal.INT : Signal.TERM;

      assertThat(process.terminate(signal, LONG).join())
          .isEqualTo(new ExitStatus.Exited(signal == Signal.INT ? 130 : 143));
    }
  }

  @Test
  void what_cannot_be_started_is_said_and_leaves_nothing() throws IOException {
    assertThatThrownBy(() -> start("no-such-program"))
        .isInstanceOf(CannotStartException.class)
        .hasMessageContaining("no-such-program");
    Files.createDirectory(folder);
    Files.createDirectory(folder.resolve("claim"));
    assertThatThrownBy(() -> start("true"))
        .isInstanceOf(CannotStartException.class)
        .hasMessageContaining("cannot be started");
    assertThat(folder).isEmptyDirectory();
    assertThat(start("true").onExit().join()).isEqualTo(new ExitStatus.Exited(0));
  }

  @Test
  void where_nothing_was_found_nothing_begins_later() throws Exception {
    Path ran = root.resolve("ran");
    Files.createDirectory(folder);

    assertThat(launcher.find(folder)).isEmpty();
    Supervisor.Program late = runLate(ran);

    assertThat(late.begun).isCompletedExceptionally();
    assertThat(ran).doesNotExist();
    assertThat(launcher.find(folder)).isEmpty();
  }

  @Test
  void what_runs_in_a_folder_is_not_disturbed_by_another_that_wants_it() throws Exception {
    Fifo gate = Fifo.make(root.resolve("gate"));
    Path ran = root.resolve("ran");
    RunningProcess first =
        start("sh", "-c", "read -r x <\"$0\"; echo end; exit 5", gate.path().toString());

    assertThatThrownBy(() -> start("touch", ran.toString()))
        .isInstanceOf(CannotStartException.class)
        .hasMessageContaining("is that of another process");
    assertThat(runLate(ran).begun).isCompletedExceptionally();
    gate.open();

    assertThat(first.onExit().join()).isEqualTo(new ExitStatus.Exited(5));
    assertThat(text(first, Output.Kind.STDOUT)).isEqualTo("end\n");
    assertThat(launcher.find(folder).orElseThrow().onExit().join())
        .isEqualTo(new ExitStatus.Exited(5));
    assertThat(ran).doesNotExist();
  }

  /** A supervisor gets the request to touch a file, whatever stands in the folder. */
  private Supervisor.Program runLate(Path ran) throws Exception {
    ProcessSpec spec = ProcessSpec.of(List.of("touch", ran.toString()), folder);
    Supervisor.Program late = new Supervisor.Program(new ProcessFolder(folder), Output.SEPARATE);
    CompletableFuture<Supervisor> idle = new CompletableFuture<>();
    SystemTools tools = SystemTools.find(System.getenv("PATH"));
    assumeTrue(tools.perl() != null, "perl is not installed");
    Supervisor.start(tools, String.valueOf(tools.perl()), idle::complete).run(spec, false, late);
    idle.join().close();
    return late;
  }

  @Test
  void every_byte_of_both_outputs_is_kept_in_its_place() {
    String script =
        "for i in 1 2 3 4 5 6 7 8; do head -c 70001 /dev/urandom; head -c 30001 /dev/urandom >&2;"
            + " done | tee \"$0\"; exit 9";
    RunningProcess process =
        spawner.start(
            ProcessSpec.of(List.of("bash", "-c", script, root.resolve("copy").toString()), folder)
                .withOutput(Output.ALL),
            InputStream.nullInputStream());

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(9));
    assertThat(folder.resolve("stdout")).hasSameBinaryContentAs(root.resolve("copy"));
    assertThat(process.output(Output.Kind.STDERR).size()).isEqualTo(8 * 30_001);
    assertThat(process.output(Output.Kind.MIXED).size()).isEqualTo(8 * 100_002);
  }

  @Test
  void lines_that_come_one_after_the_other_are_mixed_in_their_order() throws IOException {
    Fifo gate = Fifo.make(root.resolve("gate"));
    String script = "echo one; echo two >&2; read -r x <\"$0\"; echo three >&2";
    RunningProcess process =
        spawner.start(
            ProcessSpec.of(List.of("sh", "-c", script, gate.path().toString()), folder)
                .withOutput(Output.ALL),
            InputStream.nullInputStream());
    gate.open();
    process.onExit().join();

    assertThat(text(process, Output.Kind.MIXED)).endsWith("three\n").contains("one\n", "two\n");
  }

  @Test
  void a_silent_program_makes_no_file_for_its_output() throws IOException {
    RunningProcess process =
        spawner.start(
            ProcessSpec.of(List.of("true"), folder).withOutput(Output.ALL),
            InputStream.nullInputStream());

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(0));
    assertThat(text(process, Output.Kind.MIXED)).isEmpty();
    RunningProcess found = launcher.find(folder).orElseThrow();
    assertThat(found.onExit().join()).isEqualTo(new ExitStatus.Exited(0));
    assertThat(found.output(Output.Kind.STDOUT).size()).isZero();
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("identity", "claim");
    }
  }

  @Test
  void what_is_left_behind_with_the_pipes_open_does_not_hold_up_the_end() {
    RunningProcess process =
        spawner.start(
            ProcessSpec.of(List.of("sh", "-c", "echo done; sleep 1000 & exit 4"), folder)
                .withOutput(Output.ALL),
            InputStream.nullInputStream());

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(4));
    assertThat(text(process, Output.Kind.STDOUT)).isEqualTo("done\n");
    process.terminate(Duration.ZERO).join();
  }

  @Test
  void without_perl_programs_are_started_as_the_launcher_does() {
    SystemTools tools = SystemTools.find(System.getenv("PATH"));
    SystemTools none =
        new SystemTools(tools.sh(), tools.tee(), tools.mkfifo(), tools.session(), null);
    try (ProcessSpawner other = new ProcessSpawner(launcher, none)) {
      RunningProcess process =
          other.start(
              ProcessSpec.of(List.of("sh", "-c", "exit 8"), folder), InputStream.nullInputStream());

      assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(8));
    }
    assertThat(SystemTools.isUsablePerl("/bin/false")).isFalse();
  }

  @ParameterizedTest
  @EnumSource(Output.class)
  void a_program_outlives_the_kill_of_its_launcher_and_loses_nothing(Output output)
      throws IOException {
    Fifo gate = Fifo.make(root.resolve("gate"));
    String script = "echo before; read -r x <'%s'; echo after; exit 6".formatted(gate.path());
    Process victim = startVictim(output, script);
    String identity = victim.inputReader().readLine();
    victim.destroyForcibly();
    victim.onExit().join();

    RunningProcess found = launcher.find(folder).orElseThrow();
    assertThat(found.identity()).isEqualTo(ProcessIdentity.parse(identity));
    assertThat(found.onExit().isDone()).isFalse();
    gate.open();

    assertThat(found.onExit().join()).isEqualTo(new ExitStatus.Exited(6));
    Output.Kind kind = output == Output.SEPARATE ? Output.Kind.STDOUT : Output.Kind.MIXED;
    assertThat(text(found, kind)).isEqualTo("before\nafter\n");
  }

  private Process startVictim(Output output, String script) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Victim.class.getName(),
            folder.toString(),
            output.name(),
            script)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  @Test
  void a_program_is_found_while_its_supervisor_lives_on_for_others() throws IOException {
    Fifo gate = Fifo.make(root.resolve("gate"));
    start("sh", "-c", "read -r x <\"$0\"; echo end; exit 2", gate.path().toString());
    RunningProcess found = launcher.find(folder).orElseThrow();
    gate.open();

    assertThat(found.onExit().join()).isEqualTo(new ExitStatus.Exited(2));
    assertThat(text(found, Output.Kind.STDOUT)).isEqualTo("end\n");
  }

  @Test
  void when_the_supervisor_is_killed_the_end_is_noticed_and_others_are_started()
      throws IOException {
    Fifo gate = Fifo.make(root.resolve("gate"));
    RunningProcess process =
        start("sh", "-c", "read -r x <\"$0\"; echo end", gate.path().toString());
    ProcessIdentity supervisor = new ProcessFolder(folder).identities().orElseThrow().supervisor();
    ProcessHandle handle = ProcessHandle.of(supervisor.pid()).orElseThrow();
    handle.destroyForcibly();
    handle.onExit().join();
    gate.open();

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Unknown());
    assertThat(text(process, Output.Kind.STDOUT)).isEqualTo("end\n");
    RunningProcess other =
        spawner.start(
            ProcessSpec.of(List.of("true"), root.resolve("other")), InputStream.nullInputStream());
    assertThat(other.onExit().join()).isEqualTo(new ExitStatus.Exited(0));
  }

  @Test
  void closing_ends_no_program() throws IOException {
    Fifo gate = Fifo.make(root.resolve("gate"));
    RunningProcess process = start("sh", "-c", "read -r x <\"$0\"; exit 4", gate.path().toString());

    spawner.close();
    gate.open();

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(4));
  }

  private RunningProcess start(String... command) {
    return spawner.start(ProcessSpec.of(List.of(command), folder), InputStream.nullInputStream());
  }

  private static String text(RunningProcess process, Output.Kind kind) {
    return new String(process.output(kind).read(0, OutputTail.MAX_READ), UTF_8);
  }
}

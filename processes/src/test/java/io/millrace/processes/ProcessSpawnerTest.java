package io.millrace.processes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
    OutputKind kind = output == Output.MIXED ? OutputKind.MIXED : OutputKind.STDOUT;
    assertThat(text(process, kind)).isEqualTo("in " + odd + "|" + odd);
    assertThat(folder.resolve("start")).doesNotExist();
  }

  @Test
  void a_program_leads_a_session_of_its_own_and_is_deaf_to_no_signal() {
    String script = "cut -d ' ' -f 5,6 /proc/$$/stat; grep SigIgn /proc/self/status";
    RunningProcess process = start("sh", "-c", script);

    process.onExit().join();

    long pid = process.identity().pid();
    // Signals from 32 on are the C library's own.
    assertThat(text(process, OutputKind.STDOUT))
        .startsWith(pid + " " + pid + "\n")
        .matches("(?s).*SigIgn:\\t[0-9a-f]{8}[08]0000000\n");
  }

  @Test
  void a_shell_is_used_again_and_there_are_no_more_than_run_at_a_time() {
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
    ProcessSpec spec = ProcessSpec.of(List.of("touch", ran.toString()), folder);
    ProcessFolder files = new ProcessFolder(folder);
    files.prepare(Output.SEPARATE, InputStream.nullInputStream());
    StartScript.write(spec, "key", files.startFile());
    Spawned late = new Spawned(files);

    assertThat(launcher.find(folder)).isEmpty();
    CompletableFuture<SpawnShell> idle = new CompletableFuture<>();
    SpawnShell.start(Tools.find(System.getenv("PATH")), idle::complete)
        .run("key", Output.SEPARATE, late);
    idle.join().close();

    assertThat(late.begun).isCompletedExceptionally();
    assertThat(ran).doesNotExist();
    assertThat(launcher.find(folder)).isEmpty();
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
    OutputKind kind = output == Output.SEPARATE ? OutputKind.STDOUT : OutputKind.MIXED;
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
  void a_program_is_found_while_its_shell_lives_on_for_others() throws IOException {
    Fifo gate = Fifo.make(root.resolve("gate"));
    start("sh", "-c", "read -r x <\"$0\"; echo end; exit 2", gate.path().toString());
    RunningProcess found = launcher.find(folder).orElseThrow();
    gate.open();

    assertThat(found.onExit().join()).isEqualTo(new ExitStatus.Exited(2));
    assertThat(text(found, OutputKind.STDOUT)).isEqualTo("end\n");
  }

  @Test
  void when_the_shell_is_killed_the_end_is_noticed_and_others_are_started() throws IOException {
    Fifo gate = Fifo.make(root.resolve("gate"));
    RunningProcess process =
        start("sh", "-c", "read -r x <\"$0\"; echo end", gate.path().toString());
    ProcessIdentity shell = new ProcessFolder(folder).identities().orElseThrow().supervisor();
    ProcessHandle handle = ProcessHandle.of(shell.pid()).orElseThrow();
    handle.destroyForcibly();
    handle.onExit().join();
    gate.open();

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Unknown());
    assertThat(text(process, OutputKind.STDOUT)).isEqualTo("end\n");
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

  private static String text(RunningProcess process, OutputKind kind) {
    return new String(process.output(kind).read(0, OutputTail.MAX_READ), UTF_8);
  }
}

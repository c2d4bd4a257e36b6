package io.millrace.processes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecoveryTest {
  private final ProcessLauncher launcher = ProcessLauncher.create();
  private final Path root;
  private final Path folder;

  RecoveryTest(@TempDir Path root) {
    this.root = root;
    this.folder = root.resolve("process");
  }

  /** The JVM to be killed: starts a program and then waits for ever. */
  static final class Victim {
    private Victim() {}

    public static void main(String[] arguments) throws InterruptedException {
      List<String> command = List.of("sh", "-c", arguments[2]);
      RunningProcess process =
          ProcessLauncher.create()
              .start(
                  ProcessSpec.of(command, Path.of(arguments[0]))
                      .withOutput(Output.valueOf(arguments[1])));
      System.out.println(process.identity());
      Thread.currentThread().join();
    }
  }

  @ParameterizedTest
  @EnumSource(Output.class)
  void a_program_outlives_the_kill_of_its_launcher_and_loses_nothing(Output output)
      throws IOException {
    Fifo gate = Fifo.make(root.resolve("gate"));
    String script =
        "echo before; read -r line <'%s'; echo after; echo error >&2; exit 6"
            .formatted(gate.path());
    Process victim = startVictim(output, script);
    String identity = victim.inputReader().readLine();
    victim.destroyForcibly();
    victim.onExit().join();

    RunningProcess found = launcher.find(folder).orElseThrow();
    assertThat(found.identity()).isEqualTo(ProcessIdentity.parse(identity));
    assertThat(launcher.isAlive(found.identity())).isTrue();
    assertThat(found.onExit().isDone()).isFalse();
    gate.open();

    assertThat(found.onExit().join()).isEqualTo(new ExitStatus.Exited(6));
    if (output != Output.MIXED) {
      assertThat(text(found, Output.Kind.STDOUT)).isEqualTo("before\nafter\n");
      assertThat(text(found, Output.Kind.STDERR)).isEqualTo("error\n");
    }
    if (output != Output.SEPARATE) {
      assertThat(text(found, Output.Kind.MIXED).lines())
          .containsExactlyInAnyOrder("before", "after", "error")
          .startsWith("before");
    }
    assertThat(launcher.isAlive(found.identity())).isFalse();
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
  void a_program_found_again_can_be_terminated() {
    launcher.start(ProcessSpec.of(List.of("sleep", "1000"), folder));

    RunningProcess found = launcher.find(folder).orElseThrow();

    assertThat(found.terminate(Duration.ofMinutes(5)).join()).isEqualTo(new ExitStatus.Exited(143));
  }

  @Test
  void a_program_that_ended_long_ago_is_found_with_its_exit() {
    launcher.start(ProcessSpec.of(List.of("sh", "-c", "echo x; exit 2"), folder)).onExit().join();

    RunningProcess found = launcher.find(folder).orElseThrow();

    assertThat(found.onExit()).isCompletedWithValue(new ExitStatus.Exited(2));
    assertThat(text(found, Output.Kind.STDOUT)).isEqualTo("x\n");
  }

  @Test
  void nothing_is_found_where_nothing_began() throws IOException {
    assertThat(launcher.find(folder)).isEmpty();
    Files.createDirectory(folder);
    assertThat(launcher.find(folder)).isEmpty();
    Files.writeString(folder.resolve("identity"), "12 boot:3\n12");
    assertThat(launcher.find(folder)).isEmpty();
  }

  @Test
  void a_program_without_leave_never_begins() throws IOException {
    Path ran = root.resolve("ran");
    new ProcessFolder(folder).prepare(Output.SEPARATE, InputStream.nullInputStream());
    // What a launcher starts, by one that dies before it gives leave.
    Process supervisor =
        new ProcessBuilder(
                List.of(
                    "setsid",
                    "sh",
                    "-c",
                    SystemTools.Scripts.SUPERVISE,
                    "supervise",
                    folder.toString(),
                    "SEPARATE",
                    "tee",
                    "mkfifo",
                    "setsid",
                    "sh",
                    "-c",
                    SystemTools.Scripts.BEGIN,
                    "begin",
                    folder.toString(),
                    "touch",
                    ran.toString()))
            .start();
    supervisor.getInputStream().close();
    supervisor.getOutputStream().close();
    supervisor.onExit().join();

    assertThat(launcher.find(folder).orElseThrow().onExit())
        .isCompletedWithValue(new ExitStatus.NeverStarted());
    assertThat(ran).doesNotExist();
  }

  @Test
  void when_the_supervisor_is_killed_the_end_is_noticed_and_the_code_unknown() throws IOException {
    Fifo gate = Fifo.make(root.resolve("gate"));
    RunningProcess process =
        launcher.start(
            ProcessSpec.of(
                List.of("sh", "-c", "read -r line <\"$0\"; echo end", gate.path().toString()),
                folder));
    ProcessIdentity supervisor = new ProcessFolder(folder).identities().orElseThrow().supervisor();
    ProcessHandle handle = ProcessHandle.of(supervisor.pid()).orElseThrow();
    handle.destroyForcibly();
    handle.onExit().join();

    assertThat(process.onExit().isDone()).isFalse();
    gate.open();

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Unknown());
    assertThat(text(process, Output.Kind.STDOUT)).isEqualTo("end\n");
  }

  @Test
  void a_process_of_an_earlier_boot_is_gone_even_if_its_pid_is_in_use() throws IOException {
    Files.createDirectory(folder);
    long pid = ProcessHandle.current().pid();
    Files.writeString(
        folder.resolve("identity"), pid + " earlier-boot:77\n" + pid + " earlier-boot:76\n");

    assertThat(launcher.find(folder).orElseThrow().onExit())
        .isCompletedWithValue(new ExitStatus.Unknown());
  }

  @ParameterizedTest
  @ValueSource(strings = {"1 boot:3\n1 boot:2\n", "x\ny\n", "12 boot:3\n", "\n"})
  void a_damaged_identity_is_an_error_that_names_the_folder(String text) throws IOException {
    Files.createDirectory(folder);
    Files.writeString(folder.resolve("identity"), text);

    assertThatThrownBy(() -> launcher.find(folder))
        .isInstanceOf(ProcessException.class)
        .hasMessageContaining(folder.toString());
  }

  @Test
  void an_identity_survives_being_written_down() {
    ProcessIdentity identity = new ProcessIdentity(4711, "Sat Nov 21 22:11:56 2026");

    assertThat(ProcessIdentity.parse(identity.toString())).isEqualTo(identity);
    assertThatThrownBy(() -> ProcessIdentity.parse("4711"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("4711");
  }

  @Test
  void the_mark_of_systems_without_proc_is_the_start_that_ps_prints() throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/bin/ps")), "ps is not installed");
    long pid = ProcessHandle.current().pid();

    assertThat(ProcessTable.startMarkFromPs(pid).orElseThrow())
        .matches("\\w{3} \\w{3} \\d{1,2} \\d\\d:\\d\\d:\\d\\d \\d{4}");
    Process ended = new ProcessBuilder("true").start();
    ended.onExit().join();
    assertThat(ProcessTable.startMarkFromPs(ended.pid())).isEmpty();
  }

  private static String text(RunningProcess process, Output.Kind kind) {
    return new String(process.output(kind).read(0, OutputTail.MAX_READ), UTF_8);
  }
}

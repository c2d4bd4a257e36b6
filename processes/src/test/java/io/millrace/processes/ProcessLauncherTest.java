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
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessLauncherTest {
  private final ProcessLauncher launcher = ProcessLauncher.create();
  private final Path root;
  private final Path folder;

  ProcessLauncherTest(@TempDir Path root) {
    this.root = root;
    this.folder = root.resolve("process");
  }

  @Test
  void a_program_gives_its_output_and_exit_code() {
    RunningProcess process = launcher.start(shell("echo out; echo err >&2; exit 3"));

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(3));
    assertThat(output(process, Output.Kind.STDOUT)).isEqualTo("out\n");
    assertThat(output(process, Output.Kind.STDERR)).isEqualTo("err\n");
    assertThat(process.folder()).isEqualTo(folder);
  }

  @Test
  void arguments_reach_the_program_as_they_are() {
    List<String> arguments = List.of("a b", "", "$HOME", "'\"", "*", "-n", "é\n");
    RunningProcess process =
        launcher.start(
            ProcessSpec.of(
                Stream.concat(Stream.of("printf", "[%s]"), arguments.stream()).toList(), folder));

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(0));
    assertThat(output(process, Output.Kind.STDOUT)).isEqualTo("[a b][][$HOME]['\"][*][-n][é\n]");
  }

  @Test
  void the_environment_is_that_of_the_launcher_with_the_specs_variables() {
    RunningProcess process =
        launcher.start(
            ProcessSpec.of(List.of("env"), folder)
                .withEnvironment(Map.of("GREETING", "hello\nworld", "HOME", "/nowhere")));
    process.onExit().join();

    String variables = output(process, Output.Kind.STDOUT);
    assertThat(variables).contains("GREETING=hello\nworld\n").contains("HOME=/nowhere\n");
    assertThat(variables).contains("PATH=" + System.getenv("PATH")).doesNotContain("millrace_");
  }

  @Test
  void the_program_works_in_its_directory() throws IOException {
    Path directory = Files.createDirectory(root.resolve("work")).toRealPath();
    RunningProcess process =
        launcher.start(ProcessSpec.of(List.of("pwd"), folder).withDirectory(directory));
    process.onExit().join();

    assertThat(output(process, Output.Kind.STDOUT)).isEqualTo(directory + "\n");
  }

  @Test
  void standard_input_is_what_was_given_and_otherwise_empty() {
    byte[] bytes = "one\ntwo".getBytes(UTF_8);
    RunningProcess fed =
        launcher.start(ProcessSpec.of(List.of("cat"), folder), new ByteArrayInputStream(bytes));
    RunningProcess unfed =
        launcher.start(ProcessSpec.of(List.of("wc", "-c"), root.resolve("other")));

    assertThat(fed.onExit().join()).isEqualTo(new ExitStatus.Exited(0));
    assertThat(output(fed, Output.Kind.STDOUT)).isEqualTo("one\ntwo");
    unfed.onExit().join();
    assertThat(output(unfed, Output.Kind.STDOUT).strip()).isEqualTo("0");
  }

  @Test
  void a_program_leads_a_session_and_a_group_of_its_own() {
    // Fields 5 and 6 of stat are the group and the session.
    RunningProcess process =
        launcher.start(shell("read -r stat </proc/$$/stat; set -- $stat; echo $1 $5 $6"));
    process.onExit().join();

    long pid = process.identity().pid();
    assertThat(output(process, Output.Kind.STDOUT).strip()).isEqualTo(pid + " " + pid + " " + pid);
  }

  @Test
  void the_program_finds_signals_as_any_child_of_the_launcher_does() throws IOException {
    List<String> command = List.of("cat", "/proc/self/status");
    Process bare = new ProcessBuilder(command).start();
    String expected = new String(bare.getInputStream().readAllBytes(), UTF_8);
    RunningProcess process = launcher.start(ProcessSpec.of(command, folder));
    process.onExit().join();

    assertThat(signals(output(process, Output.Kind.STDOUT)))
        .hasSize(3)
        .isEqualTo(signals(expected));
  }

  private static List<String> signals(String status) {
    return status.lines().filter(line -> line.matches("Sig(Blk|Ign|Cgt):.*")).toList();
  }

  @ParameterizedTest
  @EnumSource(Output.class)
  void no_file_of_the_launcher_is_open_in_the_program(Output output) {
    RunningProcess process = launcher.start(shell("ls /proc/$$/fd").withOutput(output));
    process.onExit().join();

    Output.Kind kind = output == Output.MIXED ? Output.Kind.MIXED : Output.Kind.STDOUT;
    assertThat(output(process, kind).lines()).contains("0", "1", "2").hasSizeLessThanOrEqualTo(4);
    assertThat(output(process, kind).lines().filter(fd -> !fd.equals("10") && !fd.equals("255")))
        .containsExactly("0", "1", "2");
  }

  @Test
  void a_program_that_a_signal_ended_shows_128_and_the_signal() {
    RunningProcess process = launcher.start(shell("kill -s KILL $$"));

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(137));
  }

  @Test
  void mixed_output_is_in_the_order_of_writing() {
    RunningProcess process =
        launcher.start(
            shell("for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done")
                .withOutput(Output.MIXED));
    process.onExit().join();

    assertThat(output(process, Output.Kind.MIXED).lines())
        .containsExactly(
            "out1", "err1", "out2", "err2", "out3", "err3", "out4", "err4", "out5", "err5");
    assertThatThrownBy(() -> process.output(Output.Kind.STDOUT))
        .isInstanceOf(ProcessException.class)
        .hasMessageContaining("STDOUT");
  }

  @Test
  void all_output_is_kept_by_kind_and_mixed() throws IOException {
    RunningProcess process =
        launcher.start(
            shell("for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 5")
                .withOutput(Output.ALL));

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(5));
    assertThat(output(process, Output.Kind.STDOUT)).isEqualTo("out1\nout2\nout3\n");
    assertThat(output(process, Output.Kind.STDERR)).isEqualTo("err1\nerr2\nerr3\n");
    List<String> mixed = output(process, Output.Kind.MIXED).lines().toList();
    assertThat(mixed)
        .filteredOn(line -> line.startsWith("out"))
        .containsExactly("out1", "out2", "out3");
    assertThat(mixed)
        .filteredOn(line -> line.startsWith("err"))
        .containsExactly("err1", "err2", "err3");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder(
              "stdin", "stdout", "stderr", "mixed", "identity", "exit", "supervisor");
    }
  }

  @Test
  void a_process_left_behind_with_the_pipes_open_does_not_hold_up_the_end() {
    RunningProcess process =
        launcher.start(shell("echo done; sleep 1000 & exit 4").withOutput(Output.ALL));

    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(4));
    assertThat(output(process, Output.Kind.STDOUT)).isEqualTo("done\n");
    process.terminate(Duration.ZERO).join();
  }

  @Test
  void a_command_that_is_not_there_is_named() {
    assertCannotStart(
        ProcessSpec.of(List.of("no-such-command"), folder),
        "no-such-command was not found in PATH");
    assertCannotStart(ProcessSpec.of(List.of("./missing"), folder), "missing was not found");
    assertCannotStart(
        ProcessSpec.of(List.of("ls"), folder).withEnvironment(Map.of("PATH", "/nowhere")),
        "ls was not found in PATH: /nowhere");
  }

  @Test
  void a_command_that_is_not_executable_is_named() throws IOException {
    Path file =
        Files.createFile(
            root.resolve("data.txt"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));

    assertCannotStart(
        ProcessSpec.of(List.of(file.toString()), folder), file + " is not an executable file");
    assertCannotStart(
        ProcessSpec.of(List.of(root.toString()), folder), root + " is not an executable file");
  }

  @Test
  void a_working_directory_that_is_not_there_is_named() {
    Path missing = root.resolve("missing");

    assertCannotStart(
        ProcessSpec.of(List.of("ls"), folder).withDirectory(missing),
        "the working directory " + missing + " is not there");
  }

  @Test
  void arguments_that_are_too_long_for_the_system_are_a_failure_to_start() {
    assertCannotStart(
        ProcessSpec.of(List.of("echo", "x".repeat(4_000_000)), folder), "cannot be started");
  }

  private void assertCannotStart(ProcessSpec spec, String message) {
    assertThatThrownBy(() -> launcher.start(spec))
        .isInstanceOf(CannotStartException.class)
        .hasMessageContaining(message);
    assertThat(folder.resolve("stdin")).doesNotExist();
    assertThat(launcher.find(folder)).isEmpty();
  }

  @Test
  void a_folder_serves_one_process() {
    launcher.start(shell("exit 0")).onExit().join();

    assertThatThrownBy(() -> launcher.start(shell("exit 1")))
        .isInstanceOf(CannotStartException.class)
        .hasMessageContaining(folder.toString());
    assertThat(launcher.find(folder).orElseThrow().onExit().join())
        .isEqualTo(new ExitStatus.Exited(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1A", "A=B", "a-b", "a.b"})
  void a_variable_that_no_shell_knows_is_refused(String name) {
    ProcessSpec spec = shell("exit 0");

    assertThatThrownBy(() -> spec.withEnvironment(Map.of(name, "x")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"" + name + "\"");
  }

  @Test
  void a_malformed_command_is_refused() {
    assertThatThrownBy(() -> ProcessSpec.of(List.of(), folder))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ProcessSpec.of(List.of(""), folder))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ProcessSpec.of(List.of("-x"), folder))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("./-x");
    assertThatThrownBy(() -> ProcessSpec.of(List.of("echo", "a\0b"), folder))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_system_without_setsid_and_perl_is_told_so_and_perl_is_enough() throws IOException {
    Path tools = Files.createDirectory(root.resolve("tools"));
    for (String name : List.of("sh", "tee", "mkfifo")) {
      standIn(tools, name);
    }
    assertThatThrownBy(() -> ProcessLauncher.withPath(tools.toString()))
        .isInstanceOf(ProcessException.class)
        .hasMessageContaining("setsid")
        .hasMessageContaining("perl");

    assumeTrue(
        SystemTools.find("perl", System.getenv("PATH")).isPresent(), "perl is not installed");
    standIn(tools, "perl");
    RunningProcess process =
        ProcessLauncher.withPath(tools.toString())
            .start(shell("read -r stat </proc/$$/stat; set -- $stat; echo $6; exit 7"));
    assertThat(process.onExit().join()).isEqualTo(new ExitStatus.Exited(7));
    assertThat(output(process, Output.Kind.STDOUT).strip())
        .isEqualTo(Long.toString(process.identity().pid()));
  }

  private static void standIn(Path tools, String name) throws IOException {
    Path program = SystemTools.find(name, System.getenv("PATH")).orElseThrow();
    Path stand = Files.writeString(tools.resolve(name), "#!/bin/sh\nexec " + program + " \"$@\"\n");
    Files.setPosixFilePermissions(stand, PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void fifty_megabytes_pass_without_being_held_in_memory() throws IOException {
    RunningProcess process =
        launcher.start(
            ProcessSpec.of(List.of("head", "-c", "52428800", "/dev/zero"), folder)
                .withOutput(Output.ALL));
    process.onExit().join();

    OutputTail tail = process.output(Output.Kind.STDOUT);
    assertThat(tail.size()).isEqualTo(52_428_800);
    assertThat(process.output(Output.Kind.MIXED).size()).isEqualTo(52_428_800);
    assertThat(tail.read(52_428_799, 100)).containsExactly(0);
    assertThat(tail.read(1000, 10)).hasSize(10);
    assertThat(tail.read(52_428_800, 10)).isEmpty();
    assertThat(tail.read(Long.MAX_VALUE, 10)).isEmpty();
    try (InputStream in = tail.open(52_428_000)) {
      assertThat(in.readAllBytes()).hasSize(800);
    }
    assertThatThrownBy(() -> tail.read(-1, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> tail.read(0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> tail.read(0, OutputTail.MAX_READ + 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> tail.open(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  private ProcessSpec shell(String script) {
    return ProcessSpec.of(List.of("sh", "-c", script), folder);
  }

  private static String output(RunningProcess process, Output.Kind kind) {
    return new String(process.output(kind).read(0, OutputTail.MAX_READ), UTF_8);
  }
}

package io.millrace.processes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is promised of a guarded group, of both ways to start one. */
class DirectLauncherTest {
  private static final Optional<DirectLauncher> DIRECT = DirectLauncher.load();

  private final Path folder;
  private final Path output;
  private final Path errors;
  private final Path input;
  private final Watchdog watchdog = new Watchdog(ProcessLauncher.create(), null);

  DirectLauncherTest(@TempDir Path folder) throws IOException {
    this.folder = folder.toRealPath();
    output = folder.resolve("output");
    errors = folder.resolve("errors");
    input = Files.writeString(folder.resolve("input"), "given\n");
  }

  @AfterEach
  void end() {
    watchdog.close();
  }

  /** How it is started. */
  enum Way {
    DIRECT,
    BY_A_SHELL
  }

  private GuardedGroup start(Way way, ProcessBuilder builder) throws IOException {
    builder
        .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
        .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
    if (builder.directory() == null) {
      builder.directory(folder.toFile());
    }
    if (way == Way.BY_A_SHELL) {
      return GuardedProcess.start(builder, input, leader -> {}, watchdog);
    }
    assumeTrue(DIRECT.isPresent());
    return DIRECT.get().start(builder, input).orElseThrow();
  }

  private int run(Way way, String... command) throws Exception {
    return run(way, new ProcessBuilder(command));
  }

  private int run(Way way, ProcessBuilder builder) throws Exception {
    GuardedGroup process = start(way, builder);
    try {
      return process.waitFor();
    } finally {
      process.end();
    }
  }

  private String output() throws IOException {
    return Files.readString(output);
  }

  @Test
  void a_file_is_emptied_only_if_no_process_has_it_open() throws Exception {
    assumeTrue(DIRECT.isPresent());
    GuardedGroup process =
        start(Way.DIRECT, new ProcessBuilder("sh", "-c", "echo x; read x; exec sleep 1000"));
    try {
      assertThat(Libc.emptyUnlessOpen(output)).isFalse();
    } finally {
      process.end();
    }
    Files.writeString(output, "x");
    try (var _ = FileChannel.open(output, StandardOpenOption.READ)) {
      assertThat(Libc.emptyUnlessOpen(output)).isFalse();
      assertThat(output()).isEqualTo("x");
    }

    assertThat(Libc.emptyUnlessOpen(output)).isTrue();
    assertThat(output).isEmptyFile();
    assertThat(Libc.emptyUnlessOpen(folder.resolve("none"))).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void every_exit_code_is_told(Way way) throws Exception {
    for (int code : List.of(0, 1, 2, 125, 126, 127, 128, 137, 254, 255)) {
      assertThat(run(way, "sh", "-c", "exit " + code)).isEqualTo(code);
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_signal_is_told_as_128_and_its_number(Way way) throws Exception {
    assertThat(run(way, "sh", "-c", "kill -s TERM $$")).isEqualTo(143);
    assertThat(run(way, "sh", "-c", "kill -s KILL $$")).isEqualTo(137);
  }

  @ParameterizedTest
  @EnumSource
  void output_is_there_to_the_last_byte(Way way) throws Exception {
    assertThat(run(way, "sh", "-c", "head -c 3000000 /dev/zero; printf end; echo bad >&2"))
        .isZero();

    assertThat(Files.size(output)).isEqualTo(3_000_003);
    assertThat(errors).hasContent("bad\n");
  }

  @ParameterizedTest
  @EnumSource
  void it_appends_to_its_output_and_reads_its_input(Way way) throws Exception {
    Files.writeString(output, "before\n");

    assertThat(run(way, "cat")).isZero();

    assertThat(output()).isEqualTo("before\ngiven\n");
  }

  @ParameterizedTest
  @EnumSource
  void it_has_the_three_descriptors_and_no_others(Way way) throws Exception {
    // The fourth is that of the folder which ls itself reads.
    assertThat(run(way, "sh", "-c", "ls -1 /proc/self/fd")).isZero();

    assertThat(output().lines()).containsExactly("0", "1", "2", "3");
  }

  @ParameterizedTest
  @EnumSource
  void it_blocks_no_signals_and_ignores_as_few_as_any_other(Way way) throws Exception {
    String[] look = {"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"};
    Process usual = new ProcessBuilder(look).start();

    assertThat(run(way, look)).isZero();

    // This process may have been started to ignore some itself.
    assertThat(output().lines())
        .containsExactlyElementsOf(usual.inputReader().lines().toList())
        .contains("SigBlk:\t0000000000000000");
  }

  @ParameterizedTest
  @EnumSource
  void it_gets_the_variables_of_this_process_and_more(Way way) throws Exception {
    ProcessBuilder builder = new ProcessBuilder("sh", "-c", "echo \"$PATH|$ODD|${HOME-none}\"");
    builder.environment().putAll(Map.of("ODD", "two\nlines = ' \" ü 日本"));
    builder.environment().remove("HOME");

    assertThat(run(way, builder)).isZero();

    assertThat(output()).isEqualTo(System.getenv("PATH") + "|two\nlines = ' \" ü 日本|none\n");
  }

  @ParameterizedTest
  @EnumSource
  void its_folder_is_the_one_that_was_named_by_every_account(Way way) throws Exception {
    Path inner = Files.createDirectory(folder.resolve("a b"));

    assertThat(run(way, new ProcessBuilder("pwd", "-P").directory(inner.toFile()))).isZero();
    assertThat(run(way, new ProcessBuilder("printenv", "PWD").directory(inner.toFile()))).isZero();

    assertThat(output().lines()).containsOnly(inner.toString()).hasSize(2);
  }

  @ParameterizedTest
  @EnumSource
  void a_program_is_found_by_the_path_of_its_own_variables(Way way) throws Exception {
    program("mine", "#!/bin/sh\necho \"mine $*\"\n");
    ProcessBuilder builder = new ProcessBuilder("mine", "", "a b");
    builder.environment().put("PATH", "/usr/bin:/bin:" + folder);

    assertThat(run(way, builder)).isZero();
    assertThat(run(way, "./mine")).isZero();

    assertThat(output()).isEqualTo("mine  a b\nmine \n");
  }

  @ParameterizedTest
  @EnumSource
  void a_missing_folder_is_said(Way way) {
    ProcessBuilder builder =
        new ProcessBuilder("true").directory(folder.resolve("missing").toFile());

    assertThatThrownBy(() -> start(way, builder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("missing");
  }

  @ParameterizedTest
  @EnumSource
  void what_it_leaves_in_its_group_ends_with_it(Way way) throws Exception {
    GuardedGroup process = start(way, new ProcessBuilder("sh", "-c", "sleep 1000 & echo $!"));
    assertThat(process.waitFor()).isZero();
    ProcessHandle left = ProcessHandle.of(Long.parseLong(output().strip())).orElseThrow();
    assertThat(process.isGroupAlive()).isTrue();

    process.end();

    assertThat(left.onExit().get().isAlive()).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void its_group_can_be_asked_to_end_and_killed(Way way) throws Exception {
    Fifo ready = Fifo.make(folder.resolve("ready"));
    String deaf = "trap 'echo asked' TERM; echo >ready; while :; do sleep 1000 & wait; done";
    GuardedGroup process = start(way, new ProcessBuilder("sh", "-c", deaf));
    ready.await();

    process.terminate();
    process.kill();

    assertThat(process.waitFor()).isEqualTo(137);
    process.end();
  }

  private void program(String name, String script) throws IOException {
    Path file = Files.writeString(folder.resolve(name), script);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}

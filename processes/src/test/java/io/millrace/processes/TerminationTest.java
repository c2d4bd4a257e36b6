package io.millrace.processes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TerminationTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration SHORT = Duration.ofMillis(50);

  private final ProcessLauncher launcher = ProcessLauncher.create();
  private final Path root;
  private final Fifo ready;

  TerminationTest(@TempDir Path root) throws IOException {
    this.root = root;
    this.ready = Fifo.make(root.resolve("ready"));
  }

  @Test
  void a_term_ends_a_program_at_once() {
    RunningProcess process = launcher.start(ProcessSpec.of(List.of("sleep", "1000"), folder()));

    assertThat(process.terminate(LONG).join()).isEqualTo(new ExitStatus.Exited(143));
    assertThat(launcher.isAlive(process.identity())).isFalse();
  }

  @Test
  void a_program_may_use_its_grace_to_end_in_order() throws IOException {
    RunningProcess process =
        shell("trap 'echo bye; exit 9' TERM; echo up >\"$0\"; while :; do sleep 0.01; done");
    ready.await();

    assertThat(process.terminate(LONG).join()).isEqualTo(new ExitStatus.Exited(9));
    assertThat(process.output(Output.Kind.STDOUT).size()).isEqualTo(4);
  }

  @Test
  void a_program_that_ignores_the_term_is_killed_after_the_grace() throws IOException {
    RunningProcess process = shell("trap '' TERM; echo up >\"$0\"; while :; do sleep 1000; done");
    ready.await();

    assertThat(process.terminate(SHORT).join()).isEqualTo(new ExitStatus.Exited(137));
  }

  @Test
  void no_grace_is_a_kill() throws IOException {
    RunningProcess process = shell("trap '' TERM; echo up >\"$0\"; sleep 1000; exit 1");
    ready.await();

    assertThat(process.terminate(Duration.ZERO).join()).isEqualTo(new ExitStatus.Exited(137));
  }

  @Test
  void the_term_reaches_the_whole_group() throws IOException {
    RunningProcess process =
        shell("sh -c 'sleep 1000 & echo $! >\"$0\"; wait' \"$0\" & wait; exit 0");
    ProcessHandle grandchild = grandchild();

    process.terminate(LONG).join();

    assertThat(grandchild.onExit().join().isAlive()).isFalse();
  }

  @Test
  void a_grandchild_that_ignores_the_term_is_killed_though_the_program_has_ended()
      throws IOException {
    RunningProcess process =
        shell("sh -c 'trap \"\" TERM; sleep 1000 & echo $! >\"$0\"; wait' \"$0\" & wait; exit 0");
    ProcessHandle grandchild = grandchild();

    assertThat(process.terminate(SHORT).join()).isEqualTo(new ExitStatus.Exited(143));

    assertThat(grandchild.onExit().join().isAlive()).isFalse();
  }

  @Test
  void an_ended_process_may_be_terminated_again() {
    RunningProcess process = launcher.start(ProcessSpec.of(List.of("true"), folder()));
    process.onExit().join();

    assertThat(process.terminate(LONG).join()).isEqualTo(new ExitStatus.Exited(0));
    assertThat(process.terminate(Duration.ZERO).join()).isEqualTo(new ExitStatus.Exited(0));
    assertThatThrownBy(() -> process.terminate(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_foreign_process_with_the_same_pid_is_not_taken_for_ours() throws IOException {
    Process foreign = new ProcessBuilder("setsid", "sleep", "1000").start();
    ProcessIdentity real =
        new ProcessIdentity(foreign.pid(), ProcessTable.startMark(foreign.pid()).orElseThrow());
    String boot = real.startMark().substring(0, real.startMark().indexOf(':'));
    ProcessIdentity earlier = new ProcessIdentity(foreign.pid(), boot + ":1");

    assertThat(launcher.isAlive(real)).isTrue();
    assertThat(launcher.isAlive(earlier)).isFalse();
    assertThat(new ProcessGroup(earlier, "/bin/sh").signal("KILL")).isFalse();
    assertThat(foreign.isAlive()).isTrue();

    foreign.destroyForcibly();
    foreign.onExit().join();
    assertThat(launcher.isAlive(real)).isFalse();
    ProcessIdentity otherBoot = new ProcessIdentity(foreign.pid(), "another-boot:1");
    assertThat(ProcessTable.mayHaveGroup(otherBoot)).isFalse();
  }

  private ProcessHandle grandchild() throws IOException {
    return ProcessHandle.of(Long.parseLong(ready.await())).orElseThrow();
  }

  private RunningProcess shell(String script) {
    return launcher.start(
        ProcessSpec.of(List.of("sh", "-c", script, ready.path().toString()), folder()));
  }

  private Path folder() {
    return root.resolve("process");
  }
}

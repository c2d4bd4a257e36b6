package io.millrace.processes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GroupTest {
  private final ProcessLauncher launcher = ProcessLauncher.create();

  @Test
  void a_group_in_its_own_session_is_killed_with_all_that_is_in_it() throws IOException {
    List<String> command = List.of("sh", "-c", "sleep 1000 & echo $!; wait");
    Process process = new ProcessBuilder(launcher.inOwnSession(command)).start();
    ProcessHandle child =
        ProcessHandle.of(Long.parseLong(process.inputReader().readLine())).orElseThrow();
    ProcessIdentity leader = launcher.identify(process.pid()).orElseThrow();

    assertThat(launcher.killGroup(leader)).isTrue();

    assertThat(process.onExit().join().exitValue()).isEqualTo(137);
    assertThat(child.onExit().join().isAlive()).isFalse();
  }

  @Test
  void another_process_with_the_pid_is_left_alone() throws IOException {
    Process process = new ProcessBuilder(launcher.inOwnSession(List.of("sleep", "1000"))).start();
    try {
      ProcessIdentity other = new ProcessIdentity(process.pid(), "another boot:1");

      assertThat(launcher.killGroup(other)).isFalse();

      assertThat(process.isAlive()).isTrue();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void nothing_is_identified_by_the_pid_of_a_process_that_has_ended() throws IOException {
    Process process = new ProcessBuilder(List.of("true")).start();
    process.onExit().join();

    assertThat(launcher.identify(process.pid())).isEqualTo(Optional.empty());
  }
}

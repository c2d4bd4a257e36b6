package io.millrace.processes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WatchdogTest {
  private final ProcessLauncher launcher = ProcessLauncher.create();
  private final Process work;

  WatchdogTest() throws IOException {
    work = leader();
  }

  /** A process that leads a group by now: on a busy machine it takes a while until it does. */
  private Process leader() throws IOException {
    List<String> command = List.of("sh", "-c", "echo begun; exec sleep 1000");
    Process process = new ProcessBuilder(launcher.inOwnSession(command)).start();
    assertThat(process.inputReader().readLine()).isEqualTo("begun");
    return process;
  }

  @AfterEach
  void end() {
    work.destroyForcibly();
  }

  @Test
  void what_it_guards_ends_with_its_pipe() throws Exception {
    Watchdog watchdog = new Watchdog(launcher, null);
    watchdog.guard(work.pid());

    watchdog.close();

    assertThat(work.waitFor()).isEqualTo(137);
  }

  @Test
  void what_it_has_ended_is_its_business_no_more() throws Exception {
    Process other = leader();
    try (Watchdog watchdog = new Watchdog(launcher, null)) {
      watchdog.guard(work.pid());
      watchdog.end(work.pid());

      assertThat(work.waitFor()).isEqualTo(137);
      watchdog.guard(other.pid());
    }
    assertThat(other.waitFor()).isEqualTo(137);
  }

  @Test
  void it_guards_several_and_forgets_the_one_that_has_ended() throws Exception {
    Process other = leader();
    Process third = leader();
    try (Watchdog watchdog = new Watchdog(launcher, null)) {
      watchdog.guard(other.pid());
      watchdog.guard(work.pid());
      watchdog.guard(third.pid());
      watchdog.end(work.pid());

      assertThat(work.waitFor()).isEqualTo(137);
      assertThat(watchdog.signal("0", other.pid())).isTrue();
      assertThat(watchdog.signal("0", third.pid())).isTrue();
    }
    assertThat(other.waitFor()).isEqualTo(137);
    assertThat(third.waitFor()).isEqualTo(137);
  }

  @Test
  void what_it_does_not_guard_lives_on() {
    Watchdog watchdog = new Watchdog(launcher, null);

    long dog = child().orElseThrow().pid();
    watchdog.close();
    ProcessHandle.of(dog).ifPresent(process -> process.onExit().join());

    assertThat(work.isAlive()).isTrue();
  }

  @Test
  void one_that_was_killed_is_replaced_and_guards_on() throws Exception {
    try (Watchdog watchdog = new Watchdog(launcher, null)) {
      watchdog.guard(work.pid());
      ProcessHandle first = child().orElseThrow();
      first.destroyForcibly();
      first.onExit().join();

      assertThat(watchdog.signal("0", work.pid())).isTrue();
    }
    assertThat(work.waitFor()).isEqualTo(137);
  }

  @Test
  void it_says_whether_there_was_anybody_to_signal() throws Exception {
    try (Watchdog watchdog = new Watchdog(launcher, null)) {
      watchdog.signal("KILL", work.pid());
      work.waitFor();

      assertThat(watchdog.signal("0", work.pid())).isFalse();
    }
  }

  private static Optional<ProcessHandle> child() {
    return ProcessHandle.current()
        .children()
        .filter(child ->
            child.info().arguments().map(List::of).orElse(List.of()).contains("millrace-watchdog"))
        .reduce((first, second) -> second);
  }
}

package io.millrace.processes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that starts programs directly is killed in the midst of it. */
class SessionKillTest {
  private static final int TIMES = Integer.getInteger("millrace.sessionkill.times", 3);

  private final ProcessLauncher launcher = ProcessLauncher.create();
  private final Path folder;

  SessionKillTest(@TempDir Path folder) {
    assumeTrue(Watchdog.canStartDirectly());
    this.folder = folder;
  }

  @Test
  void nothing_is_left_of_what_it_has_just_started() throws Exception {
    for (int i = 0; i < TIMES; i++) {
      Fifo begun = Fifo.make(folder.resolve("begun" + i));
      // Some live in groups of their own, some without the process that began them.
      Process host = start("sleep 1000 & set -m; sleep 1000 & echo >" + begun.path());
      begun.await();

      host.destroyForcibly().waitFor();

      awaitNobodyIn(host.pid());
    }
  }

  @Test
  void a_node_can_end_its_session_where_its_watchdog_is_dead_too() throws Exception {
    Fifo begun = Fifo.make(folder.resolve("begun"));
    Process host = start("set -m; sleep 1000 & echo >" + begun.path());
    begun.await();
    ProcessIdentity identity = launcher.identify(host.pid()).orElseThrow();
    // Stopped, so that it starts no other.
    assertThat(ProcessGroup.signal("/bin/sh", "STOP", host.pid())).isTrue();
    host.descendants()
        .filter(process ->
            process
                .info()
                .arguments()
                .map(List::of)
                .orElse(List.of())
                .contains("millrace-watchdog"))
        .forEach(ProcessHandle::destroyForcibly);
    host.destroyForcibly().waitFor();

    launcher.killSession(identity);

    awaitNobodyIn(host.pid());
  }

  private Process start(String script) throws IOException {
    Process host = new ProcessBuilder(SessionHost.command(launcher, script, folder)).start();
    BufferedReader out = host.inputReader();
    assertThat(out.readLine()).isEqualTo("ready");
    return host;
  }

  /** Fails where some live on after a minute. */
  private static void awaitNobodyIn(long session) throws Exception {
    for (long pid = member(session); pid != 0; pid = member(session)) {
      var end = ProcessHandle.of(pid);
      if (end.isPresent()) {
        end.get().onExit().get(1, TimeUnit.MINUTES);
      }
    }
  }

  private static long member(long session) throws IOException {
    return ProcessTable.all().stream()
        .filter(stat -> stat.isAlive() && stat.session() == session)
        .mapToLong(ProcessTable.Stat::pid)
        .findFirst()
        .orElse(0);
  }
}

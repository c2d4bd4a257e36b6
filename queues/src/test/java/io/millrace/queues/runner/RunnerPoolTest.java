package io.millrace.queues.runner;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.ProcessSpec;
import io.millrace.processes.RunningProcess;
import io.millrace.queues.ObjectId;
import io.millrace.queues.node.Runners;
import io.millrace.queues.runner.LocalRunners.Options;
import io.millrace.queues.runner.Messages.Hello;
import io.millrace.queues.runner.Messages.Lines;
import io.millrace.queues.runner.RunnerContext.Schedule;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The runners of a node under a clock of the test's own. */
final class RunnerPoolTest {
  private static final List<String> COMMAND = List.of("sleep", "600");

  @TempDir private Path root = Path.of("");
  private final ProcessLauncher launcher = ProcessLauncher.create();
  private final ScheduledExecutorService schedule = Schedule.single("pool-test");
  private final AtomicLong nanos = new AtomicLong(-7);
  private RunnerPool pool;
  private RunningProcess process;

  @BeforeEach
  void start() throws IOException {
    Path folder = Files.createDirectory(root.resolve("runner"));
    Options options = Options.in(root, new Options.Command(COMMAND, List.of())).withIdle(1);
    pool = new RunnerPool(options, launcher, schedule);
    pool.tell(
        new Runners.Listener() {
          @Override
          public void ended(ObjectId task) {}

          @Override
          public void lost(ObjectId task, String reason) {}
        });
    process = launcher.start(ProcessSpec.of(COMMAND, folder));
    pool.admit(() -> RunnerSlot.started(new TaskFolder(folder), process, COMMAND, nanos::get));
  }

  @AfterEach
  void stop() {
    pool.disband();
    launcher.killGroup(process.identity());
    process.onExit().join();
    schedule.shutdownNow();
  }

  @Test
  void a_runner_that_does_not_connect_within_half_a_minute_counts_as_none() {
    assertThat(pool.hasOne(COMMAND)).isTrue();
    assertThat(pool.hasAsManyAsKept(COMMAND)).isTrue();
    nanos.addAndGet(RunnerSlot.LONGEST_START.toNanos());
    assertThat(pool.hasOne(COMMAND)).isFalse();
    assertThat(pool.hasAsManyAsKept(COMMAND)).isFalse();
  }

  @Test
  void a_runner_that_does_not_connect_within_minutes_is_to_be_killed() {
    nanos.addAndGet(RunnerSlot.LONGEST_START.toNanos());
    assertThat(pool.frozen()).isEmpty();
    nanos.addAndGet(RunnerSlot.LONGEST_HANG.toNanos());
    assertThat(pool.frozen()).hasSize(1);
  }

  @Test
  void a_runner_that_has_connected_may_be_idle_for_long() throws IOException {
    UnixDomainSocketAddress address = UnixDomainSocketAddress.of(root.resolve("socket"));
    try (ServerSocketChannel _ =
            ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address);
        Lines lines = new Lines(SocketChannel.open(address))) {
      Hello hello = new Hello("runner", process.identity().toString(), null);
      assertThat(pool.connected(hello, lines)).isTrue();
      nanos.addAndGet(100 * RunnerSlot.LONGEST_HANG.toNanos());
      assertThat(pool.hasOne(COMMAND)).isTrue();
      assertThat(pool.frozen()).isEmpty();
      pool.disband();
    }
  }
}

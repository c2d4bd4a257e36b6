package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.processes.Watchdog;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.node.Runners.RunnerException;
import io.millrace.queues.runner.LocalRunners;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runners as processes, against a server, without a node in between. */
class LocalRunnersTest {
  private final RunnerFixture site;
  private final Path root;

  LocalRunnersTest(@TempDir Path root) {
    this.root = root;
    this.site = new RunnerFixture(root);
  }

  @AfterEach
  void close() throws IOException {
    site.close();
  }

  @Test
  void each_task_has_a_process_of_its_own() throws Exception {
    LocalRunners runners = site.open(0);

    assertThat(parentOf(runners)).isNotEqualTo(parentOf(runners));
  }

  @Test
  void a_warm_runner_is_used_again() throws Exception {
    LocalRunners runners = site.open(1);

    assertThat(parentOf(runners)).isEqualTo(parentOf(runners));
  }

  /** Runs a task, and returns the process that ran it. */
  private String parentOf(LocalRunners runners) throws InterruptedException {
    Run run = site.claim("echo $PPID");
    runners.begin(run, "shell", NodeConfig.DEFAULTS);
    assertThat(site.nextEvent()).isEqualTo("ended " + run.task());
    return output(run);
  }

  private String output(Run run) {
    QueueTask task = site.task(run.task());
    assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
    return ((Output.Text) task.output().stdout()).text();
  }

  @Test
  void a_runner_outlives_its_node_and_is_found_again() throws Exception {
    Path fifo = site.fifo();
    Run run = site.claim("echo $$ >" + fifo + "; read -r x <" + fifo + "; echo $x");
    LocalRunners before = site.open(0);
    before.begin(run, "shell", NodeConfig.DEFAULTS);
    Files.readString(fifo);

    before.close();
    LocalRunners after = site.create(0);
    assertThat(after.recover(site.runs(), site)).containsExactly(run.task());
    Files.writeString(fifo, "done\n");

    // It may be done before it has found the new node.
    assertThat(site.nextEvent())
        .matches("ended " + run.task() + "|lost " + run.task() + " its runner ended.*");
    assertThat(site.task(run.task()).output().stdout()).isEqualTo(new Output.Text("done\n"));
  }

  @Test
  void a_runner_that_is_found_again_follows_its_server_to_another_address() throws Exception {
    Path fifo = site.fifo();
    Run run = site.claim("echo $$ >" + fifo + "; read -r x <" + fifo + "; echo $x");
    LocalRunners before = site.open(0);
    before.begin(run, "shell", NodeConfig.DEFAULTS);
    Files.readString(fifo);
    before.close();

    site.moveServer();
    LocalRunners after = site.create(0);
    assertThat(after.recover(site.runs(), site)).containsExactly(run.task());
    Files.writeString(fifo, "done\n");

    // It cannot report before it has found the new node, which tells it where.
    assertThat(site.nextEvent()).isEqualTo("ended " + run.task());
    assertThat(output(run)).isEqualTo("done\n");
  }

  @Test
  void a_task_can_be_stopped_after_a_restart_of_the_node() throws Exception {
    Path fifo = site.fifo();
    Run run = site.claim("echo $$ >" + fifo + "; sleep 1000");
    LocalRunners before = site.open(0);
    before.begin(run, "shell", NodeConfig.DEFAULTS);
    Files.readString(fifo);
    before.close();
    LocalRunners after = site.create(0);
    after.recover(site.runs(), site);

    after.stop(run.task(), Duration.ofMinutes(5));

    assertThat(site.nextEvent()).isEqualTo("ended " + run.task());
    assertThat(site.task(run.task()).status()).isEqualTo(Status.TERMINATED);
  }

  @Test
  void with_a_runner_that_is_killed_its_task_ends_and_the_node_hears_of_it() throws Exception {
    Path fifo = site.fifo();
    Run run = site.claim("sleep 1000 & echo $PPID $$ $! >" + fifo + "; wait");
    LocalRunners runners = site.open(0);
    runners.begin(run, "shell", NodeConfig.DEFAULTS);
    List<ProcessHandle> processes = processes(Files.readString(fifo));

    processes.getFirst().destroyForcibly();

    assertThat(site.nextEvent()).startsWith("lost " + run.task() + " its runner ended");
    processes.forEach(process -> process.onExit().join());
    assertThat(site.task(run.task()).status()).isEqualTo(Status.RUNNING);
  }

  @Test
  void with_a_warm_runner_that_is_killed_groups_of_its_tasks_own_end_too() throws Exception {
    assumeTrue(Watchdog.canStartDirectly());
    LocalRunners runners = site.open(1);
    Path fifo = site.fifo();
    while (!isStartedDirectly(runners)) {
      // It makes that ready after its first task.
      LockSupport.parkNanos(5_000_000);
    }
    Run run = site.claim("set -m; sleep 1000 & echo $PPID $$ $! >" + fifo + "; wait");
    runners.begin(run, "shell", NodeConfig.DEFAULTS);
    List<ProcessHandle> processes = processes(Files.readString(fifo));

    processes.getFirst().destroyForcibly();

    assertThat(site.nextEvent()).startsWith("lost " + run.task() + " its runner ended");
    processes.forEach(process -> process.onExit().join());
  }

  private boolean isStartedDirectly(LocalRunners runners) throws InterruptedException {
    Run run = site.claim("read -r _ _ _ _ _ session _ </proc/$$/stat; echo $((session - $$))");
    runners.begin(run, "shell", NodeConfig.DEFAULTS);
    assertThat(site.nextEvent()).isEqualTo("ended " + run.task());
    return !output(run).equals("0\n");
  }

  @Test
  void with_a_runner_that_is_killed_its_task_ends_though_no_node_is_there() throws Exception {
    Path fifo = site.fifo();
    Run run = site.claim("sleep 1000 & echo $PPID $$ $! >" + fifo + "; wait");
    LocalRunners before = site.open(0);
    before.begin(run, "shell", NodeConfig.DEFAULTS);
    List<ProcessHandle> processes = processes(Files.readString(fifo));
    before.close();

    processes.getFirst().destroyForcibly();

    processes.forEach(process -> process.onExit().join());
    assertThat(site.create(0).recover(site.runs(), site)).isEmpty();
  }

  @Test
  void a_runner_that_is_frozen_is_killed_with_its_task_before_its_claim_ends() throws Exception {
    Path fifo = site.fifo();
    Run run = site.claim("echo $PPID $$ >" + fifo + "; sleep 1000");
    LocalRunners runners = site.openWithLease(Duration.ofSeconds(8));
    runners.begin(run, "shell", NodeConfig.DEFAULTS);
    List<ProcessHandle> processes = processes(Files.readString(fifo));
    String pid = Long.toString(processes.getFirst().pid());

    assertThat(new ProcessBuilder("kill", "-STOP", pid).start().waitFor()).isZero();

    assertThat(site.nextEvent()).startsWith("lost " + run.task()).contains("said nothing");
    processes.forEach(process -> process.onExit().join());
    // The runner has reported nothing; the server may have noticed the end of the claim by now.
    assertThat(site.task(run.task()).status()).isIn(Status.RUNNING, Status.ORPHANED);
  }

  @Test
  void a_runner_that_renews_its_claim_outlives_its_first_lease() throws Exception {
    LocalRunners runners = site.openWithLease(Duration.ofSeconds(8));
    Run run = site.claim("sleep 9");
    runners.begin(run, "shell", NodeConfig.DEFAULTS);

    assertThat(site.nextEvent()).isEqualTo("ended " + run.task());
    assertThat(site.task(run.task()).status()).isEqualTo(Status.SUCCEEDED);
  }

  private static List<ProcessHandle> processes(String pids) {
    return List.of(pids.strip().split(" ")).stream()
        .map(pid -> ProcessHandle.of(Long.parseLong(pid)).orElseThrow())
        .toList();
  }

  @Test
  void nonsense_on_the_socket_disturbs_nobody() throws Exception {
    LocalRunners runners = site.open(0);
    List<String> nonsense =
        List.of(
            "GET / HTTP/1.1\r\n\r\n",
            "{}\n",
            "[]\n",
            "{\"say\":\"hello\"}\n",
            "{\"say\":\"hello\",\"name\":\"../x\",\"identity\":\"2 x\",\"task\":null}\n",
            "{\"say\":\"ended\",\"task\":\"000000000000000000000000\"}\n",
            "x".repeat(2 << 20));
    for (String text : nonsense) {
      assertThat(answer(text)).isNegative();
    }

    assertThat(parentOf(runners)).isNotBlank();
  }

  /** Sends something; the end of the connection is negative. */
  private int answer(String text) throws Exception {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(site.socket()));
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.shutdownOutput();
      return channel.read(ByteBuffer.allocate(1));
    } catch (IOException e) {
      // Cut off while it was still talking.
      return -1;
    }
  }

  @Test
  void a_runner_that_is_not_there_cannot_be_started() {
    LocalRunners runners = site.open(0);
    NodeConfig config = site.config(List.of("no-such-runner"));
    Run run = site.claim("true");

    assertThatThrownBy(() -> runners.begin(run, "shell", config))
        .isInstanceOf(RunnerException.class)
        .hasMessageContaining("no-such-runner");
  }

  @Test
  void a_runner_that_ends_at_once_has_not_started() throws Exception {
    LocalRunners runners = site.open(0);
    Run run = site.claim("true");

    runners.begin(run, "shell", site.config(List.of("sh", "-c", "echo broken >&2; exit 4")));

    assertThat(site.nextEvent()).startsWith("not started " + run.task()).contains("broken");
  }

  @Test
  void a_folder_with_a_long_path_works_too() throws Exception {
    Path deep = Files.createDirectories(root.resolve("x".repeat(100)).resolve("y".repeat(100)));
    LocalRunners runners = site.openIn(deep);
    Run run = site.claim("true");

    runners.begin(run, "shell", NodeConfig.DEFAULTS);

    assertThat(site.nextEvent()).isEqualTo("ended " + run.task());
  }

  @Test
  void many_warm_runners_work_at_a_time() throws Exception {
    LocalRunners runners = site.open(3);
    List<ObjectId> tasks =
        site.claimMany("echo x", 6).stream()
            .map(run -> {
              runners.begin(run, "shell", NodeConfig.DEFAULTS);
              return run.task();
            })
            .toList();
    for (int i = 0; i < tasks.size(); i++) {
      assertThat(site.nextEvent()).startsWith("ended ");
    }
    assertThat(tasks).allMatch(task -> site.task(task).status() == Status.SUCCEEDED);
  }

  @Test
  void a_runner_is_there_before_the_first_task_and_is_used_for_it() throws Exception {
    LocalRunners runners = site.open(2);
    runners.prepare(NodeConfig.DEFAULTS);
    runners.prepare(NodeConfig.DEFAULTS);
    site.awaitOneIdle(runners);

    String first = parentOf(runners);
    assertThat(parentOf(runners)).isEqualTo(first);
    assertThat(runners.idle(NodeConfig.DEFAULTS)).isEqualTo(1);
  }

  @Test
  void without_warm_runners_none_is_started_before_a_task() {
    LocalRunners runners = site.open(0);
    runners.prepare(NodeConfig.DEFAULTS);

    assertThat(runners.starting()).isZero();
  }

  @Test
  void warm_runners_that_are_idle_for_long_are_given_up_but_for_one() throws Exception {
    LocalRunners runners =
        site.open(
            new LocalRunners.Options.Warm(2, LocalRunners.Options.LINGER, Duration.ofMillis(400)));
    Set<String> both = twoParents(runners, site.fifo());
    site.awaitOneIdle(runners);

    assertThat(parentOf(runners)).isIn(both);
  }

  @Test
  void while_all_warm_runners_are_at_work_a_run_is_refused_until_one_is_free() throws Exception {
    Path fifo = site.fifo();
    LocalRunners runners = site.open(1);
    Run first = site.claim("read -r x <" + fifo + "; echo $PPID");
    assertThat(runners.offer(first, "shell", NodeConfig.DEFAULTS)).isTrue();

    Run second = site.claim("echo $PPID");
    assertThat(runners.offer(second, "shell", NodeConfig.DEFAULTS)).isFalse();
    Files.writeString(fifo, "go on\n");
    assertThat(site.nextEvent()).isEqualTo("ended " + first.task());

    assertThat(runners.offer(second, "shell", NodeConfig.DEFAULTS)).isTrue();
    assertThat(site.nextEvent()).isEqualTo("ended " + second.task());
    assertThat(output(second)).isEqualTo(output(first));
  }

  @Test
  void without_warm_runners_no_run_is_refused() throws Exception {
    LocalRunners runners = site.open(0);
    for (Run run : site.claimMany("true", 2)) {
      assertThat(runners.offer(run, "shell", NodeConfig.DEFAULTS)).isTrue();
    }
    assertThat(List.of(site.nextEvent(), site.nextEvent())).allMatch(it -> it.startsWith("ended"));
  }

  @Test
  void a_runner_beyond_the_warm_ones_is_used_again_while_it_lingers() throws Exception {
    LocalRunners runners = site.open(1, Duration.ofHours(1));
    Path fifo = site.fifo();
    Set<String> first = twoParents(runners, fifo);

    assertThat(first).hasSize(2);
    assertThat(twoParents(runners, fifo)).isEqualTo(first);
  }

  @Test
  void a_runner_beyond_the_warm_ones_ends_when_it_has_lingered() throws Exception {
    LocalRunners runners = site.open(1, Duration.ZERO);
    Set<String> both = twoParents(runners, site.fifo());

    CompletableFuture<?>[] ends =
        both.stream()
            .flatMap(pid -> ProcessHandle.of(Long.parseLong(pid.strip())).stream())
            .map(ProcessHandle::onExit)
            .toArray(CompletableFuture[]::new);
    if (ends.length == both.size()) {
      CompletableFuture.anyOf(ends).join();
    }

    assertThat(parentOf(runners)).isIn(both);
  }

  /** Runs two tasks at a time, and returns the processes that ran them. */
  private Set<String> twoParents(LocalRunners runners, Path fifo) throws Exception {
    Run first = site.claim("read -r x <" + fifo + "; echo $PPID");
    runners.begin(first, "shell", NodeConfig.DEFAULTS);
    String other = parentOf(runners);
    Files.writeString(fifo, "go on\n");
    assertThat(site.nextEvent()).isEqualTo("ended " + first.task());
    return Set.of(other, output(first));
  }

  @Test
  void a_task_is_stopped_though_its_runner_has_not_begun_it() throws Exception {
    LocalRunners runners = site.open(1);
    Run run = site.claim("sleep 1000");
    runners.begin(run, "shell", NodeConfig.DEFAULTS);
    runners.stop(run.task(), Duration.ofMinutes(5));

    assertThat(site.nextEvent()).isEqualTo("ended " + run.task());
    assertThat(site.task(run.task()).status()).isEqualTo(Status.TERMINATED);
  }
}

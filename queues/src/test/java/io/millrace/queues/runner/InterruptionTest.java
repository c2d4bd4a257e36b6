package io.millrace.queues.runner;

import static io.millrace.queues.runner.Bench.reason;
import static io.millrace.queues.runner.Bench.shell;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks that do not end by themselves. */
class InterruptionTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration SHORT = Duration.ofMillis(50);

  private final Bench bench;
  private final Path ready;

  InterruptionTest(@TempDir Path root) throws Exception {
    bench = new Bench(root);
    ready = root.resolve("ready");
    assertThat(new ProcessBuilder("mkfifo", ready.toString()).start().waitFor()).isZero();
  }

  @AfterEach
  void close() {
    bench.close();
  }

  /** A task that says so once it runs, and then does {@code command}. */
  private Under begin(String before, String command) throws IOException {
    return begin(before + "; echo $$ >" + ready + "; " + command);
  }

  private Under begin(String command) throws IOException {
    TaskRun run = bench.begin("shell", shell(command));
    CompletableFuture<Void> end =
        CompletableFuture.runAsync(
            () -> {
              try {
                run.carryOut();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            },
            task -> Thread.ofPlatform().daemon().start(task));
    long pid = Long.parseLong(Files.readString(ready).strip());
    return new Under(run, ProcessHandle.of(pid).orElseThrow(), end);
  }

  /** A task under way. */
  private record Under(TaskRun run, ProcessHandle process, CompletableFuture<Void> end) {}

  private QueueTask task(Under under) {
    return bench.task(under.run().assignment().task());
  }

  @Test
  void a_stop_terminates_a_task_and_keeps_what_it_wrote() throws Exception {
    Under under = begin("echo before", "sleep 1000");

    under.run().stop(LONG);
    under.end().join();

    assertThat(task(under).status()).isEqualTo(Status.TERMINATED);
    assertThat(bench.text(task(under).output().stdout())).isEqualTo("before\n");
    assertThat(under.process().isAlive()).isFalse();
  }

  @Test
  void a_task_may_use_its_grace_to_end_in_order() throws Exception {
    Under under = begin("trap 'echo bye; exit 9' TERM", "while :; do sleep 0.01; done");

    under.run().stop(LONG);
    under.end().join();

    assertThat(task(under).status()).isEqualTo(Status.TERMINATED);
    assertThat(bench.text(task(under).output().stdout())).isEqualTo("bye\n");
  }

  @Test
  void a_child_may_use_the_grace_though_its_parent_has_ended() throws Exception {
    Under under =
        begin(
            "bash -c \"trap 'sleep 0.2; echo cleaned; exit' TERM; echo \\$\\$ >"
                + ready
                + "; while :; do sleep 0.01; done\" & wait");

    under.run().stop(LONG);
    under.end().join();

    assertThat(bench.text(task(under).output().stdout())).isEqualTo("cleaned\n");
    assertThat(task(under).status()).isEqualTo(Status.TERMINATED);
  }

  @Test
  void a_task_that_ignores_the_term_is_killed_with_all_its_children() throws Exception {
    Under under = begin("trap '' TERM; sleep 1000 & echo $!", "while :; do sleep 1000; done");

    under.run().stop(SHORT);
    under.end().join();

    long child = Long.parseLong(bench.text(task(under).output().stdout()).strip());
    ProcessHandle.of(child).ifPresent(left -> left.onExit().join());
    assertThat(task(under).status()).isEqualTo(Status.TERMINATED);
  }

  @Test
  void a_claim_is_renewed_while_the_task_runs() throws Exception {
    bench.lease = Duration.ofSeconds(6);
    Under under = begin("true", "read -r go <" + ready);

    bench.store.awaitCommits(1);
    Files.writeString(ready, "go\n");
    under.end().join();

    assertThat(task(under).status()).isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void work_is_ended_before_its_lease_where_that_cannot_be_renewed() throws Exception {
    bench.lease = Duration.ofSeconds(2);
    Under under = begin("echo before", "sleep 1000");

    bench.store.leave();
    under.process().onExit().join();
    bench.store.comeBack();
    under.end().join();

    assertThat(task(under).status()).isEqualTo(Status.ORPHANED);
    assertThat(reason(task(under))).contains("could not be renewed");
    assertThat(bench.text(task(under).output().stdout())).isEqualTo("before\n");
  }

  @Test
  void a_report_waits_until_the_server_is_back() throws Exception {
    Under under = begin("true", "read -r go <" + ready);

    bench.store.leave();
    Files.writeString(ready, "go\n");
    bench.store.awaitMissed();
    assertThat(under.end()).isNotDone();
    bench.store.comeBack();
    under.end().join();

    assertThat(task(under).status()).isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void work_is_ended_and_forgotten_when_its_claim_is_lost() throws Exception {
    bench.lease = Duration.ofSeconds(1);
    Under under = begin("echo before", "sleep 1000");
    var run = bench.queues.runs().find(under.run().assignment().task()).orElseThrow();
    bench
        .queues
        .runs()
        .finish(run, new Report(Status.ORPHANED, TaskOutput.NONE, List.of(), "taken away"));

    under.end().join();

    assertThat(under.process().isAlive()).isFalse();
    assertThat(reason(task(under))).isEqualTo("taken away");
    assertThat(bench.chunks()).isEmpty();
  }
}

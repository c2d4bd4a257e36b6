package io.millrace.queues.runner;

import static io.millrace.queues.runner.Bench.json;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.QueueTask;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.Compiled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks whose plugin is a class. */
class JavaPluginTest {
  private final Bench bench;

  JavaPluginTest(@TempDir Path root) throws IOException {
    bench = new Bench(root);
  }

  @AfterEach
  void close() {
    bench.close();
  }

  private void plugin(String body) throws IOException {
    Compiled.into(bench.plugins.resolve("classes"), "my.Plugin", body);
  }

  @Test
  void it_gets_params_ids_and_token_and_returns_a_status() throws Exception {
    plugin(
        "task.stdout().write((task.id() + ' ' + task.token() + ' ' + task.node()).getBytes());"
            + " System.err.println(\"seen\"); return task.params().path(\"n\").asInt();");

    TaskRun run = bench.begin("my.Plugin", json("{'n':77}"));
    run.carryOut();

    QueueTask task = bench.task(run.assignment().task());
    assertThat(task.status()).isEqualTo(77);
    long token = run.assignment().run().claim().token();
    assertThat(bench.text(task.output().stdout())).isEqualTo(task.id() + " " + token + " bench");
    assertThat(bench.text(task.output().stderr())).isEqualTo("seen\n");
  }

  @Test
  void a_status_that_is_not_positive_becomes_2() throws Exception {
    plugin("return 0;");

    QueueTask task = bench.run("my.Plugin", json("{'a':1}"));

    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(bench.text(task.output().stderr())).contains("returned 0");
  }

  @Test
  void what_it_throws_goes_to_stderr() throws Exception {
    plugin("throw new NoSuchFieldError(\"no luck\");");

    QueueTask task = bench.run("my.Plugin", json("{'a':1}"));

    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(bench.text(task.output().stderr())).contains("NoSuchFieldError: no luck");
  }

  @Test
  void the_name_of_what_it_throws_is_the_code_of_the_failure() throws Exception {
    bench.retry("attempts", "3", "retry_except", "IllegalArgumentException");
    plugin(
        "task.retryAfter(java.time.Duration.ofHours(2));"
            + " throw task.params().path(\"n\").asInt() == 1"
            + " ? new IllegalArgumentException() : new IllegalStateException();");
    assertThat(bench.run("my.Plugin", json("{'n':1}")).status()).isEqualTo(Status.FAILED);
    QueueTask again = bench.run("my.Plugin", json("{'n':2}"));
    assertThat(again.status()).isEqualTo(Status.QUEUED);
    assertThat(again.progress().retries().notBeforeMillis() - again.progress().mtimeMillis())
        .isEqualTo(7_200_000);
  }

  @Test
  void it_is_interrupted_when_its_time_is_over() throws Exception {
    bench.retry("timeout", "100ms");
    plugin("Thread.sleep(1_000_000L); return 1;");
    QueueTask task = bench.run("my.Plugin", json("{'a':1}"));
    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(task.progress().reason()).isEqualTo("it took longer than its timeout of 100ms");
  }

  @Test
  void it_is_put_off_when_it_snoozes_whatever_it_returns() throws Exception {
    plugin("task.snooze(java.time.Duration.ofMinutes(5)); return 0;");
    QueueTask task = bench.run("my.Plugin", json("{'a':1}"));
    assertThat(task.status()).isEqualTo(Status.QUEUED);
    assertThat(task.progress().retries().snoozed()).isEqualTo(1);
  }

  @Test
  void a_thread_that_it_leaves_behind_makes_the_runner_unfit_for_another_task() throws Exception {
    plugin(
        """
        Thread.ofPlatform().daemon().start(() -> {
          while (true) {
            java.util.concurrent.locks.LockSupport.parkNanos(1_000_000L);
          }
        });
        return 1;
        """);
    TaskRun leaves = bench.begin("my.Plugin", json("{'a':1}"));
    leaves.carryOut();
    TaskRun clean = bench.beginPatiently("demo", json("{'user1':'a'}"));
    clean.carryOut();

    assertThat(leaves.leavesThreads()).isTrue();
    assertThat(clean.leavesThreads()).isFalse();
    assertThat(bench.task(leaves.assignment().task()).status()).isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void work_that_it_leaves_in_the_common_pool_makes_the_runner_unfit_too() throws Exception {
    Path end = bench.root().resolve("end");
    plugin(
        """
        java.util.concurrent.ForkJoinPool.commonPool().execute(() -> {
          while (!java.nio.file.Files.exists(java.nio.file.Path.of("%s"))) {
            java.util.concurrent.locks.LockSupport.parkNanos(1_000_000L);
          }
        });
        return 1;
        """
            .formatted(end));
    TaskRun leaves = bench.begin("my.Plugin", json("{'a':1}"));
    leaves.carryOut();
    Files.createFile(end);

    assertThat(leaves.leavesThreads()).isTrue();
    // The pool is that of the other tests as well.
    assertThat(ForkJoinPool.commonPool().awaitQuiescence(1, TimeUnit.MINUTES)).isTrue();
  }

  @Test
  void threads_that_end_with_it_leave_the_runner_fit() throws Exception {
    plugin(
        """
        var pool = java.util.concurrent.Executors.newFixedThreadPool(2);
        pool.submit(() -> System.out.println("in the pool")).get();
        pool.shutdown();
        return 1;
        """);
    TaskRun run = bench.beginPatiently("my.Plugin", json("{'a':1}"));
    run.carryOut();

    assertThat(run.leavesThreads()).isFalse();
    assertThat(bench.text(bench.task(run.assignment().task()).output().stdout()))
        .isEqualTo("in the pool\n");
  }

  /** A virtual thread cannot be found. It writes in every way there is while the next task runs. */
  @Test
  void a_virtual_thread_that_it_leaves_writes_into_no_later_task() throws Exception {
    plugin(
        """
        java.nio.file.Path next = java.nio.file.Path.of("%s");
        java.nio.file.Path written = next.resolveSibling("written");
        if (task.params().path("n").asInt() == 2) {
          java.nio.file.Files.createFile(next);
          while (!java.nio.file.Files.exists(written)) {
            Thread.sleep(1);
          }
          System.out.println("mine");
          return 1;
        }
        var out = System.out;
        var stream = task.stdout();
        Thread.ofVirtual().start(() -> {
          try {
            while (!java.nio.file.Files.exists(next)) {
              Thread.sleep(1);
            }
            System.out.println("late");
            System.err.println("late");
            out.println("held");
            stream.write("raw".getBytes());
            java.nio.file.Files.createFile(written);
          } catch (Exception e) {
            e.printStackTrace();
          }
        });
        return 1;
        """
            .formatted(bench.root().resolve("next")));
    QueueTask first = bench.run("my.Plugin", json("{'n':1}"));
    QueueTask second = bench.run("my.Plugin", json("{'n':2}"));

    assertThat(first.status()).isEqualTo(Status.SUCCEEDED);
    assertThat(bench.text(second.output().stdout())).isEqualTo("mine\n");
    assertThat(bench.text(second.output().stderr())).isEmpty();
  }

  @Test
  void it_is_told_when_it_is_to_end() throws Exception {
    Path ready = bench.root().resolve("ready");
    assertThat(new ProcessBuilder("mkfifo", ready.toString()).start().waitFor()).isZero();
    plugin(
        "java.nio.file.Files.writeString(java.nio.file.Path.of(\""
            + ready
            + "\"), \"x\"); try { Thread.sleep(1000000); return 1; }"
            + " catch (InterruptedException e) {"
            + " System.out.println(task.isCancelled()); return 5; }");
    TaskRun run = bench.begin("my.Plugin", json("{'a':1}"));
    CompletableFuture<Void> end = begin(run);
    Files.readString(ready);

    run.stop(Duration.ofMinutes(5));
    end.join();

    QueueTask task = bench.task(run.assignment().task());
    assertThat(task.status()).isEqualTo(Status.TERMINATED);
    assertThat(bench.text(task.output().stdout())).isEqualTo("true\n");
    assertThat(bench.lastWords).isEmpty();
  }

  @Test
  void one_that_does_not_listen_ends_with_its_runner() throws Exception {
    Path ready = bench.root().resolve("ready");
    assertThat(new ProcessBuilder("mkfifo", ready.toString()).start().waitFor()).isZero();
    plugin(
        "java.nio.file.Path fifo = java.nio.file.Path.of(\""
            + ready
            + "\"); java.nio.file.Files.writeString(fifo, \"x\");"
            + " while (!java.nio.file.Files.exists(fifo.resolveSibling(\"end\"))) {"
            + " try { Thread.sleep(10); } catch (InterruptedException e) { } } return 1;");
    TaskRun run = bench.begin("my.Plugin", json("{'a':1}"));
    CompletableFuture<Void> end = begin(run);
    Files.readString(ready);

    run.stop(Duration.ZERO);

    assertThat(bench.lastWords).hasSize(1);
    assertThat(end).isNotDone();
    Files.createFile(bench.root().resolve("end"));
    end.join();
  }

  private static CompletableFuture<Void> begin(TaskRun run) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            run.carryOut();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        },
        task -> Thread.ofPlatform().daemon().start(task));
  }
}

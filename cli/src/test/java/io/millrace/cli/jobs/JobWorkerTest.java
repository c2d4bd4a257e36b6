package io.millrace.cli.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cli.remote.CuttableProxy;
import io.millrace.client.ClientOptions;
import io.millrace.client.jobs.JobContext;
import io.millrace.client.jobs.JobFailedException;
import io.millrace.client.jobs.JobResult;
import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.WorkerRefusedException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The worker of the client against a real server. */
@Timeout(120)
class JobWorkerTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir private Path scratch = Path.of("");
  private JobFixture site;

  @BeforeEach
  void open() {
    site = new JobFixture(scratch.resolve("data"));
  }

  @AfterEach
  void close() {
    site.close();
  }

  private void submit(String key) {
    assertThat(site.runReading("payload of " + key, "jobs", "submit", "-", "-k", key).code())
        .isZero();
  }

  private JsonNode job(String key) {
    return site.shown("jobs", "show", key).path(0);
  }

  private void awaitDone(String... keys) {
    String[] command = new String[keys.length + 4];
    command[0] = "jobs";
    command[1] = "wait";
    System.arraycopy(keys, 0, command, 2, keys.length);
    command[keys.length + 2] = "--timeout";
    command[keys.length + 3] = "60s";
    assertThat(site.run(command).code()).isZero();
  }

  private String result(String key) {
    return site.run("jobs", "result", key).out();
  }

  private static String text(InputStream payload) throws IOException {
    return new String(payload.readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void a_job_that_is_put_off_and_then_fails_is_given_out_again_later() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    for (String id : List.of("a", "b")) {
      site.worker(
          site.options(id),
          (_, _) ->
              switch (calls.incrementAndGet()) {
                case 1 -> throw JobFailedException.snooze(Duration.ofMillis(300));
                case 2 ->
                    throw new JobFailedException("not yet", null)
                        .withCode("no-paper")
                        .retryAfter(Duration.ofMillis(200));
                default -> JobResult.of("done");
              });
    }
    assertThat(
            site.runReading(
                    "x", "jobs", "submit", "-", "-k", "k", "--delay", "300ms", "--retries", "5")
                .code())
        .isZero();
    awaitDone("k");
    JsonNode job = job("k");
    assertThat(calls).hasValue(3);
    assertThat(job.path("failures").asInt()).isEqualTo(1);
    assertThat(job.path("snoozed").asInt()).isEqualTo(1);
    assertThat(job.path("attempts").asInt()).isEqualTo(6);
    assertThat(job.has("notBefore")).isFalse();
  }

  @Test
  void a_handler_knows_its_job_and_tells_how_far_it_is() throws Exception {
    CompletableFuture<JobContext> given = new CompletableFuture<>();
    CountDownLatch looked = new CountDownLatch(1);
    site.worker(
        site.options("w"),
        (payload, job) -> {
          job.progress(12.5);
          job.progress(40, "half done");
          given.complete(job);
          looked.await();
          return JobResult.of(text(payload).toUpperCase(Locale.ROOT));
        });
    submit("k");
    JobContext context = given.get(60, TimeUnit.SECONDS);
    JsonNode running = job("k");
    while (!running.path("progress").path("info").asString("").equals("half done")) {
      LockSupport.parkNanos(5_000_000);
      running = job("k");
    }
    assertThat(running.path("progress").path("percent").asInt()).isEqualTo(40);
    looked.countDown();
    awaitDone("k");
    assertThat(result("k")).isEqualTo("PAYLOAD OF K");
    assertThat(context.key()).isEqualTo("k");
    assertThat(context.id()).isEqualTo(job("k").path("id").asString());
    assertThat(context.fencingToken()).isPositive();
    assertThat(context.payloadSize()).isEqualTo(12);
  }

  @Test
  void payload_and_result_of_70_mib_go_in_fragments() throws Exception {
    int size = 70 << 20;
    byte[] large = new byte[size];
    for (int i = 0; i < size; i++) {
      large[i] = (byte) (i * 7 + (i >> 11));
    }
    Path in = Files.write(scratch.resolve("in"), large);
    Path out = scratch.resolve("out");
    site.worker(site.options("w"), (payload, _) -> JobResult.of(payload));
    assertThat(site.run("jobs", "submit", in.toString(), "-o", out.toString()).code()).isZero();
    assertThat(Files.mismatch(in, out)).isEqualTo(-1);
  }

  @Test
  void several_jobs_run_at_once_and_a_slow_one_holds_up_nobody() throws Exception {
    CyclicBarrier together = new CyclicBarrier(3);
    CountDownLatch others = new CountDownLatch(3);
    site.worker(
        site.options("w").withConcurrency(4),
        (payload, job) -> {
          if (job.key().equals("slow")) {
            // Its megabytes wait here, and not on the line.
            others.await();
            return JobResult.of(payload);
          }
          together.await();
          String text = text(payload);
          others.countDown();
          return JobResult.of(text);
        });
    Path large = Files.write(scratch.resolve("large"), new byte[20 << 20]);
    assertThat(site.run("jobs", "submit", large.toString(), "-k", "slow").code()).isZero();
    List.of("a", "b", "c").forEach(this::submit);
    awaitDone("a", "b", "c", "slow");
    assertThat(result("b")).isEqualTo("payload of b");
    assertThat(job("slow").path("resultSize").asInt()).isEqualTo(20 << 20);
  }

  @Test
  void a_failure_keeps_what_was_said_of_it() throws Exception {
    site.worker(
        site.options("w"),
        (_, job) -> {
          if (job.key().equals("told")) {
            throw new JobFailedException("no such page", "line 1\nline \ud800 2");
          }
          throw new IllegalStateException("oops");
        });
    submit("told");
    submit("thrown");
    for (String key : List.of("told", "thrown")) {
      JsonNode history = job(key).path("history");
      while (history.isEmpty()) {
        LockSupport.parkNanos(5_000_000);
        history = job(key).path("history");
      }
      assertThat(history.path(0).path("info").asString()).containsAnyOf("no such page", "oops");
      assertThat(history.path(0).path("logs").asString()).containsAnyOf("line ? 2", "lambda");
    }
  }

  @Test
  void a_job_that_is_cancelled_is_taken_from_its_handler() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
    site.worker(
        site.options("w"),
        (payload, job) -> {
          if (job.key().equals("next")) {
            return JobResult.of(payload);
          }
          begun.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            cancelled.complete(job.isCancelled());
          }
          return JobResult.of("late");
        });
    submit("k");
    begun.await();
    assertThat(site.run("jobs", "cancel", "k").code()).isZero();
    assertThat(cancelled.get(60, TimeUnit.SECONDS)).isTrue();
    submit("next");
    awaitDone("next");
    assertThat(job("k").path("status").asString()).isEqualTo("failed");
    assertThat(site.run("jobs", "result", "k").code()).isEqualTo(4);
  }

  @Test
  void a_cut_connection_gives_the_job_back_and_the_worker_comes_again() throws Exception {
    BlockingQueue<Long> tokens = new LinkedBlockingQueue<>();
    AtomicInteger interrupted = new AtomicInteger();
    try (CuttableProxy line = new CuttableProxy(URI.create(site.address()))) {
      site.worker(
          site.options("w").withServer(ClientOptions.at(line.address())),
          (payload, job) -> {
            tokens.add(job.fencingToken());
            if (tokens.size() == 1) {
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                interrupted.incrementAndGet();
                throw e;
              }
            }
            return JobResult.of(payload);
          });
      submit("k");
      while (tokens.isEmpty()) {
        LockSupport.parkNanos(5_000_000);
      }
      line.cut();
      awaitDone("k");
    }
    // Its thread may notice later than another one does the job again.
    while (interrupted.get() == 0) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(interrupted).hasValue(1);
    assertThat(tokens).hasSize(2);
    assertThat(List.copyOf(tokens)).isSorted();
    assertThat(job("k").path("failures").asInt()).isZero();
    assertThat(result("k")).isEqualTo("payload of k");
  }

  @Test
  void a_server_that_starts_again_is_found_again() throws Exception {
    site.worker(site.options("w"), (payload, _) -> JobResult.of(payload));
    site.restart();
    submit("k");
    awaitDone("k");
  }

  @Test
  void a_stop_lets_what_runs_end_and_takes_no_more() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    JobWorker worker =
        site.worker(
            site.options("w"),
            (payload, _) -> {
              begun.countDown();
              go.await();
              return JobResult.of(payload);
            });
    submit("first");
    begun.await();
    worker.leave();
    submit("second");
    go.countDown();
    assertThat(worker.stop(LONG)).isTrue();
    awaitDone("first");
    assertThat(job("second").path("status").asString()).isEqualTo("pending");
    assertThat(worker.busy()).isZero();
  }

  @Test
  void a_stop_whose_grace_is_over_gives_jobs_back() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    JobWorker worker =
        site.worker(
            site.options("w"),
            (_, _) -> {
              begun.countDown();
              new CountDownLatch(1).await();
              return JobResult.of("never");
            });
    submit("k");
    begun.await();
    assertThat(worker.stop(Duration.ofMillis(1))).isFalse();
    worker.onEnd().get(60, TimeUnit.SECONDS);
    site.worker(site.options("other"), (payload, _) -> JobResult.of(payload));
    awaitDone("k");
    assertThat(job("k").path("workerId").asString()).isEqualTo("other");
  }

  @Test
  void who_is_not_let_in_is_told_why() throws Exception {
    try (JobFixture closed =
        new JobFixture(scratch.resolve("closed"), "jobs.worker.token", "right")) {
      try (JobWorker wrong =
          JobWorker.start(
              closed.options("w").withToken("wrong"), (payload, _) -> JobResult.of(payload))) {
        refused(wrong, "the token is wrong");
      }
      try (JobWorker typed =
          JobWorker.start(
              closed.options("w").withType("nope"), (payload, _) -> JobResult.of(payload))) {
        refused(typed, "no job types");
      }
      closed.worker(closed.options("w").withToken("right"), (p, _) -> JobResult.of(p));
    }
  }

  private static void refused(JobWorker worker, String reason) {
    assertThatThrownBy(() -> worker.onEnd().get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(WorkerRefusedException.class)
        .hasMessageContaining(reason);
  }
}

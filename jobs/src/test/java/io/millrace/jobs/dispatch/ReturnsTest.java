package io.millrace.jobs.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FaultyBlobs;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.PolledWorkers;
import io.millrace.jobs.worker.Registration;
import io.millrace.jobs.worker.WorkerManager.WorkerOptions;
import io.millrace.work.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs whose workers go, block or report what cannot be stored. */
class ReturnsTest {
  private static final int MOST = 5;

  private final FaultyBlobs blobs;
  private VirtualWorkers world;

  ReturnsTest(@TempDir Path folder) {
    blobs = new FaultyBlobs(FileBlobStore.open(folder));
    world = new VirtualWorkers(blobs, JobTypes.NONE, VirtualWorkers.OPTIONS);
  }

  @AfterEach
  void close() {
    world.close();
  }

  private void start(JobTypes types, WorkerOptions options) {
    world.close();
    world = new VirtualWorkers(blobs, types, options);
  }

  /** A worker that takes the job and goes. */
  private TestLine killed(int number) {
    TestLine line = TestLine.ready(world.workers, "w-" + number);
    world.mayHaveMissed();
    world.settle();
    assertThat(line.heard()).containsExactly("payload of k");
    line.breakOff();
    world.settle();
    return line;
  }

  @Test
  void a_delayed_job_is_given_out_when_its_time_has_come() {
    TestLine line = TestLine.ready(world.workers, "w");
    world.settle();
    Submission order =
        new Submission(
            "",
            Priority.IMMEDIATE,
            "k",
            null,
            world.now().plusSeconds(10).toEpochMilli(),
            Policy.NONE);
    Value payload = new Value.Inline("payload of k".getBytes(StandardCharsets.UTF_8));
    world.registry().submit(world.registry().newId(), order, payload);
    world.mayHaveMissed();
    world.settle();
    world.advance(Duration.ofMillis(9_900));
    assertThat(line.heard()).isEmpty();
    world.advance(Duration.ofMillis(150));
    assertThat(line.heard()).containsExactly("payload of k");
  }

  @Test
  void a_job_that_kills_its_workers_is_failed_after_so_many_returns() {
    Job job = world.submit("k");
    for (int i = 1; i < MOST; i++) {
      killed(i);
      assertThat(world.job("k").status()).isEqualTo(JobStatus.PENDING);
      assertThat(world.job("k").returns()).isEqualTo(i);
    }
    killed(MOST);
    assertThat(world.job("k").status()).isEqualTo(JobStatus.FAILED);
    assertThat(world.job("k").failures()).isZero();
    assertThat(world.job("k").times().ended()).isNotNull();
    assertThat(world.registry().returns(job.id()))
        .extracting(Failure::info)
        .hasSize(MOST)
        .containsOnly("its connection broke");
    assertThat(world.registry().returns(job.id()))
        .extracting(each -> String.valueOf(each.worker()))
        .containsExactly("w-1", "w-2", "w-3", "w-4", "w-5");
    assertThat(world.registry().failures(job.id()))
        .singleElement()
        .satisfies(failure ->
            assertThat(failure.info())
                .isEqualTo("it was returned 5 times, the last time: its connection broke"));
    TestLine innocent = TestLine.ready(world.workers, "innocent");
    world.mayHaveMissed();
    world.settle();
    assertThat(innocent.heard()).isEmpty();
  }

  @Test
  void a_job_that_is_retried_counts_its_returns_anew_and_a_deleted_one_leaves_nothing() {
    Job job = world.submit("k");
    for (int i = 1; i <= MOST; i++) {
      killed(i);
    }
    world.registry().retry("k");
    assertThat(world.job("k").returns()).isZero();
    killed(MOST + 1);
    assertThat(world.job("k").returns()).isEqualTo(1);
    assertThat(world.registry().returns(job.id())).hasSize(MOST + 1);
    world.registry().delete("k");
    assertThat(world.registry().returns(job.id())).isEmpty();
  }

  @Test
  void a_worker_that_goes_in_good_order_counts_for_nothing() {
    world.submit("k");
    for (int i = 0; i <= MOST; i++) {
      TestLine line = TestLine.ready(world.workers, "w-" + i);
      world.mayHaveMissed();
      world.settle();
      assertThat(line.heard()).containsExactly("payload of k");
      line.leave();
      world.settle();
    }
    assertThat(world.job("k").status()).isEqualTo(JobStatus.PENDING);
    assertThat(world.job("k").returns()).isZero();
  }

  @Test
  void a_job_that_was_never_sent_does_not_count_as_returned() {
    Job job = world.submit("k");
    TestLine line = TestLine.open(world.workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"i\",\"token\":\"right\"}");
    line.jam();
    line.tell("{\"code\":1,\"status\":1}");
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.RUNNING);
    line.breakOff();
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.PENDING);
    assertThat(world.registry().returns(job.id())).isEmpty();
  }

  @Test
  void a_connection_that_the_server_ends_says_why_at_the_job() {
    Job job = world.submit("k");
    TestLine line = TestLine.ready(world.workers, "w");
    world.settle();
    line.tell("garbage");
    world.settle();
    assertThat(world.registry().returns(job.id()))
        .singleElement()
        .satisfies(attempt ->
            assertThat(attempt.info())
                .startsWith("the server closed its connection: a message is JSON"));
  }

  @Test
  void a_payload_that_cannot_be_read_is_not_offered_for_ever_over_http() {
    world.submit("k");
    PolledWorkers polls = new PolledWorkers(world.workers, world.registry());
    world.workers.wakeBy(world::settleOnce);
    for (int i = 0; i < MOST; i++) {
      Assignment attempt =
          polls
              .next("", Registration.single("n", new WorkerId("p"), "right"), Duration.ZERO)
              .orElseThrow();
      polls.undelivered(attempt, "its payload cannot be read");
      world.mayHaveMissed();
      world.settle();
    }
    assertThat(world.job("k").status()).isEqualTo(JobStatus.FAILED);
  }

  @Test
  void a_worker_may_block_while_it_works_for_as_long_as_its_job_may_be_silent() {
    start(
        JobTypes.NONE,
        new WorkerOptions(
            Duration.ofSeconds(5),
            "right"::equals,
            true,
            Duration.ofHours(2),
            Duration.ofSeconds(20)));
    world.submit("k");
    TestLine blocked = TestLine.ready(world.workers, "blocked");
    world.settle();
    for (int minute = 0; minute < 119; minute++) {
      world.advance(Duration.ofMinutes(1));
    }
    assertThat(blocked.heard()).noneMatch(message -> message.startsWith("closed"));
    blocked.result("late, and welcome");
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.DONE);
  }

  @Test
  void a_blocked_worker_loses_its_job_when_that_is_stuck_and_goes_when_it_stays_silent() {
    world.submit("k");
    TestLine blocked = TestLine.ready(world.workers, "blocked");
    world.settle();
    world.advance(Duration.ofSeconds(60));
    assertThat(blocked.heard())
        .contains("{\"code\":2}")
        .noneMatch(each -> each.startsWith("closed"));
    world.advance(Duration.ofSeconds(10));
    assertThat(world.job("k").status()).isEqualTo(JobStatus.PENDING);
    assertThat(world.job("k").failures()).isEqualTo(1);
    assertThat(world.job("k").returns()).isZero();
    world.advance(Duration.ofSeconds(20));
    assertThat(blocked.heard()).contains("closed 1008 there was no sign of life, not even a pong");
  }

  @Test
  void one_result_that_cannot_be_read_stops_no_job_of_any_type() {
    start(
        JobTypes.of(
            List.of(
                new JobType("first", null, "second"),
                new JobType("second", null, null),
                new JobType("other", null, null))),
        VirtualWorkers.OPTIONS);
    Value payload = new Value.Inline(new byte[] {1});
    world.submit(world.registry().newId(), "first", "poison", payload);
    world.submit(world.registry().newId(), "other", "innocent", payload);
    TestLine first = TestLine.ready(world.workers, "first", "a");
    TestLine other = TestLine.ready(world.workers, "other", "b");
    world.settle();
    blobs.broken = name -> name.endsWith(".result");
    first.result("x".repeat(Value.INLINE_LIMIT + 1));
    other.result("y".repeat(Value.INLINE_LIMIT + 1));
    world.settle();
    assertThat(world.job("innocent").status()).isEqualTo(JobStatus.DONE);
    Job poison = world.job("poison");
    assertThat(poison.status()).isEqualTo(JobStatus.DONE);
    assertThat(poison.line().followOn()).isNotNull();
    assertThat(world.workers.find("a").orElseThrow().tally().succeeded()).isEqualTo(1);
    blobs.broken = _ -> false;
    world.followOns().step(world.now());
    assertThat(world.job("poison").line().child()).isNotNull();
  }

  @Test
  void a_report_that_cannot_be_stored_now_is_tried_again_and_delays_no_other() {
    world.submit("k");
    TestLine line = TestLine.ready(world.workers, "w");
    world.settle();
    Job job = world.job("k");
    world.postponed = report -> report.assignment().job().id().equals(job.id());
    line.result("r");
    world.submit("l");
    world.settle();
    assertThat(line.heard()).containsExactly("payload of k", "payload of l");
    line.result("s");
    world.settle();
    assertThat(world.job("l").status()).isEqualTo(JobStatus.DONE);
    world.advance(Duration.ofSeconds(1));
    assertThat(world.job("k").status()).isEqualTo(JobStatus.RUNNING);
    world.postponed = _ -> false;
    world.advance(Duration.ofSeconds(1));
    assertThat(world.job("k").status()).isEqualTo(JobStatus.RUNNING);
    world.advance(Duration.ofSeconds(1));
    assertThat(world.job("k").status()).isEqualTo(JobStatus.DONE);
    assertThat(world.workers.find("w").orElseThrow().tally().succeeded()).isEqualTo(2);
  }
}

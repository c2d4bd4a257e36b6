package io.millrace.jobs.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.Jobs;
import io.millrace.jobs.JobsEnvironment;
import io.millrace.jobs.JobsOptions;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.Polls;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.Registration;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.jobs.worker.WorkerOptions;
import io.millrace.jobs.worker.WorkerState;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Manager, dispatcher and registry together, stepped by hand in virtual time. */
class WorkersInVirtualTimeTest {
  private static final WorkerOptions OPTIONS =
      new WorkerOptions(
          Duration.ofMillis(500),
          "right"::equals,
          true,
          Duration.ofSeconds(60),
          Duration.ofSeconds(20));

  @TempDir private Path folder;

  private final EmbeddedFixture fixture = new EmbeddedFixture(1);
  private long nanos;
  private boolean settling;
  private Jobs jobs;
  private WorkerManager workers;
  private JobDispatcher dispatcher;

  @BeforeEach
  void open() {
    BlobStore blobs = FileBlobStore.open(folder);
    jobs =
        Jobs.open(
            fixture.store(),
            blobs,
            JobTypes.of(List.of()),
            JobsOptions.DEFAULTS,
            new JobsEnvironment(() -> Instant.EPOCH, new Random(1)));
    workers = new WorkerManager(OPTIONS, fixture.store(), blobs, () -> Instant.EPOCH, () -> nanos);
    dispatcher = new JobDispatcher(jobs.registry(), workers, JobsOptions.DEFAULTS.lease());
  }

  @AfterEach
  void close() {
    jobs.close();
    fixture.close();
  }

  private Job submit(String key) {
    Job job =
        jobs.registry()
            .submit(
                jobs.registry().newId(),
                new Submission("", Priority.IMMEDIATE, key, null),
                new Value.Inline(key.getBytes(StandardCharsets.UTF_8)));
    dispatcher.mayHaveMissed();
    return job;
  }

  private void settle() {
    for (int i = 0; i < 10; i++) {
      dispatcher.step(nanos);
    }
  }

  private void advance(Duration time) {
    fixture.advance(time);
    nanos += time.toNanos();
    settle();
  }

  private Job job(String key) {
    return jobs.registry().find(key).orElseThrow();
  }

  @Test
  void a_job_goes_to_a_ready_worker_and_its_result_is_kept() {
    TestLine line = TestLine.ready(workers, "w");
    submit("k");
    settle();
    assertThat(line.heard()).containsExactly("payload of k");
    assertThat(job("k").status()).isEqualTo(JobStatus.RUNNING);
    line.result("r");
    settle();
    assertThat(job("k").status()).isEqualTo(JobStatus.DONE);
    assertThat(workers.find("w").orElseThrow().tally().succeeded()).isEqualTo(1);
  }

  @Test
  void silence_and_a_wrong_token_are_closed_after_the_grace_time() {
    TestLine silent = TestLine.open(workers);
    TestLine wrong = TestLine.open(workers);
    wrong.tell("{\"code\":0,\"name\":\"n\",\"id\":\"i\",\"token\":\"wrong\"}");
    advance(Duration.ofMillis(499));
    assertThat(silent.heard()).isEmpty();
    assertThat(wrong.heard()).isEmpty();
    advance(Duration.ofMillis(1));
    assertThat(silent.heard()).containsExactly("closed 1008 no registration came within 500 ms");
    assertThat(wrong.heard()).containsExactly("closed 1008 the token is wrong");
  }

  @Test
  void progress_is_seen_at_once_and_progress_of_neither_kind_is_refused() {
    TestLine line = TestLine.ready(workers, "w");
    Job job = submit("k");
    settle();
    line.heard();
    line.tell("{\"code\":3,\"percent\":12.5,\"info\":null}");
    assertThat(workers.progress(job.id())).contains(new Progress(12.5, null, 0));
    line.tell("{\"code\":3,\"percent\":null,\"info\":null}");
    assertThat(line.heard())
        .containsExactly("closed 1007 progress has \"percent\" or \"info\", or both");
    settle();
    assertThat(job("k").status()).isEqualTo(JobStatus.PENDING);
    assertThat(job("k").failures()).isZero();
  }

  @Test
  void a_stuck_job_is_asked_about_taken_back_and_its_late_result_refused() {
    TestLine slow = TestLine.ready(workers, "slow");
    submit("k");
    settle();
    slow.heard();
    for (int i = 0; i < 3; i++) {
      advance(Duration.ofSeconds(20));
      slow.pong();
    }
    assertThat(slow.heard()).contains("{\"code\":2}");
    advance(Duration.ofSeconds(10));
    assertThat(job("k").status()).isEqualTo(JobStatus.PENDING);
    assertThat(job("k").failures()).isEqualTo(1);
    TestLine other = TestLine.ready(workers, "other");
    settle();
    assertThat(other.heard()).containsExactly("payload of k");
    slow.heard();
    slow.result("late");
    settle();
    assertThat(slow.heard().getFirst()).contains("\"refused\":\"" + job("k").id() + "\"");
    assertThat(job("k").status()).isEqualTo(JobStatus.RUNNING);
    other.result("right");
    settle();
    assertThat(job("k").status()).isEqualTo(JobStatus.DONE);
    assertThat(job("k").hand().worker()).hasToString("other");
  }

  @Test
  void a_busy_answer_keeps_the_job_and_a_ready_that_crosses_it_does_not_free_it() {
    TestLine line = TestLine.ready(workers, "w");
    submit("k");
    settle();
    line.tell("{\"code\":1,\"status\":1}");
    settle();
    assertThat(job("k").status()).isEqualTo(JobStatus.RUNNING);
    for (int i = 0; i < 9; i++) {
      advance(Duration.ofSeconds(20));
      line.tell("{\"code\":1,\"status\":0}");
    }
    assertThat(job("k").status()).isEqualTo(JobStatus.RUNNING);
    assertThat(workers.find("w").map(view -> view.state()))
        .isEqualTo(Optional.of(WorkerState.BUSY));
  }

  @Test
  void a_failed_job_goes_to_another_worker_behind_work_that_has_not_failed() {
    TestLine first = TestLine.ready(workers, "first");
    submit("k");
    settle();
    first.tell("{\"code\":4,\"info\":\"no\",\"logs\":\"long\"}");
    settle();
    first.heard();
    advance(Duration.ofSeconds(5));
    assertThat(first.heard()).isEmpty();
    submit("fresh");
    TestLine second = TestLine.ready(workers, "second");
    settle();
    assertThat(first.heard()).containsExactly("payload of fresh");
    assertThat(second.heard()).containsExactly("payload of k");
    assertThat(jobs.registry().failures(job("k").id()))
        .singleElement()
        .satisfies(failure -> assertThat(failure.logs()).isEqualTo("long"));
  }

  @Test
  void the_job_of_a_worker_that_leaves_is_offered_again_at_once() {
    TestLine first = TestLine.ready(workers, "first");
    submit("k");
    settle();
    first.breakOff();
    TestLine second = TestLine.ready(workers, "second");
    dispatcher.mayHaveMissed();
    settle();
    assertThat(second.heard()).containsExactly("payload of k");
    assertThat(job("k").failures()).isZero();
    assertThat(workers.find("first").map(view -> view.state()))
        .isEqualTo(Optional.of(WorkerState.DISCONNECTED));
  }

  @Test
  void a_silent_peer_is_pinged_and_closed_in_the_end() {
    TestLine line = TestLine.ready(workers, "w");
    advance(Duration.ofSeconds(20));
    assertThat(line.heard()).containsExactly("ping");
    advance(Duration.ofSeconds(20));
    advance(Duration.ofSeconds(20));
    assertThat(line.heard()).contains("closed 1008 there was no sign of life, not even a pong");
  }

  @Test
  void a_worker_of_several_jobs_hears_which_and_says_which() {
    TestLine line = TestLine.open(workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"m\",\"token\":\"right\",\"jobs\":2}");
    line.tell("{\"code\":1,\"status\":1}");
    submit("a");
    Job b = submit("b");
    settle();
    assertThat(line.heard()).contains("payload of a", "payload of b");
    line.tell("{\"code\":6,\"job\":\"" + b.id() + "\"}");
    line.result("of b");
    settle();
    assertThat(job("b").status()).isEqualTo(JobStatus.DONE);
    assertThat(job("a").status()).isEqualTo(JobStatus.RUNNING);
    line.result("of what?");
    assertThat(line.heard()).contains("closed 1008 a result comes after code 6");
  }

  @Test
  void a_worker_that_has_named_its_jobs_hears_at_once_that_one_was_taken_from_it() {
    TestLine line = TestLine.open(workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"m\",\"token\":\"right\",\"jobs\":1}");
    line.tell("{\"code\":1,\"status\":1}");
    TestLine original = TestLine.ready(workers, "original");
    Job k = submit("k");
    submit("l");
    settle();
    assertThat(line.heard()).contains("payload of k");
    assertThat(original.heard()).containsExactly("payload of l");
    jobs.registry().cancel("k");
    jobs.registry().cancel("l");
    advance(JobsOptions.DEFAULTS.lease().dividedBy(2));
    assertThat(line.heard())
        .contains(
            "{\"code\":2,\"refused\":\"" + k.id() + "\",\"info\":\"the job was taken from you\"}");
    assertThat(original.heard()).noneMatch(message -> message.contains("refused"));
  }

  @Test
  void a_polled_worker_whose_job_is_cancelled_is_there_no_more() throws Exception {
    Polls polls = new Polls(workers, jobs.registry());
    submit("k");
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    workers.wakeBy(this::settleOnce);
    assertThat(polls.next("", who, Duration.ofMinutes(1))).isPresent();
    jobs.registry().cancel("k");
    advance(JobsOptions.DEFAULTS.lease());
    assertThat(workers.find("p").map(view -> view.state()))
        .isEqualTo(Optional.of(WorkerState.DISCONNECTED));
  }

  /** The dispatcher's step wakes it again, within itself. */
  private void settleOnce() {
    if (!settling) {
      settling = true;
      dispatcher.step(nanos);
      settling = false;
    }
  }
}

package io.millrace.jobs.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.Jobs;
import io.millrace.jobs.JobsEnvironment;
import io.millrace.jobs.JobsFullException;
import io.millrace.jobs.JobsOptions;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report;
import io.millrace.jobs.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.Advances;
import io.millrace.jobs.worker.JobObserver;
import io.millrace.jobs.worker.Polls;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.Registration;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.jobs.worker.WorkerOptions;
import io.millrace.jobs.worker.WorkerState;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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
  private BlobStore blobs;
  private Jobs jobs;
  private WorkerManager workers;
  private JobDispatcher dispatcher;

  @BeforeEach
  void open() {
    blobs = FileBlobStore.open(folder);
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
    Value payload = new Value.Inline(key.getBytes(StandardCharsets.UTF_8));
    return submit(jobs.registry().newId(), key, payload);
  }

  private Job submit(JobId id, String key, Value payload) {
    Submission order = new Submission("", Priority.IMMEDIATE, key, null);
    Job job = jobs.registry().submit(id, order, payload);
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
  void a_job_that_is_deleted_before_it_is_sent_costs_its_worker_nothing() {
    TestLine line = TestLine.ready(workers, "w");
    line.jam();
    submit("k");
    settle();
    jobs.registry().delete("k");
    line.clear(jobs.registry());
    settle();
    assertThat(line.heard()).isEmpty();
    submit("next");
    settle();
    assertThat(line.heard()).containsExactly("payload of next");
    assertThat(workers.find("w").orElseThrow().tally().failed()).isZero();
  }

  @Test
  void a_job_that_is_cancelled_before_it_is_sent_is_not_sent() {
    TestLine line = TestLine.ready(workers, "w");
    line.jam();
    submit("k");
    settle();
    jobs.registry().cancel("k");
    advance(JobsOptions.DEFAULTS.lease().dividedBy(3));
    line.clear(jobs.registry());
    submit("next");
    settle();
    assertThat(line.heard()).contains("payload of next").doesNotContain("payload of k");
    assertThat(job("k").status()).isEqualTo(JobStatus.FAILED);
  }

  @Test
  void a_job_that_was_given_again_while_it_waited_is_sent_once() {
    TestLine line = TestLine.open(workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"m\",\"token\":\"right\",\"jobs\":2}");
    line.tell("{\"code\":1,\"status\":1}");
    line.heard();
    line.jam();
    submit("k");
    settle();
    jobs.registry().cancel("k");
    advance(JobsOptions.DEFAULTS.lease().dividedBy(3));
    jobs.registry().retry("k");
    dispatcher.mayHaveMissed();
    settle();
    line.clear(jobs.registry());
    assertThat(line.heard()).containsOnlyOnce("payload of k");
    assertThat(job("k").status()).isEqualTo(JobStatus.RUNNING);
  }

  @Test
  void a_job_whose_payload_is_lost_fails_and_costs_its_workers_nothing() {
    TestLine line = TestLine.ready(workers, "w");
    line.jam();
    JobId id = jobs.registry().newId();
    InputStream content = new ByteArrayInputStream(new byte[Value.INLINE_LIMIT + 1]);
    Value payload = Value.keep(JobRegistry.payloadName(id), content, blobs);
    Job job = submit(id, "k", payload);
    settle();
    assertThat(blobs.delete(JobRegistry.payloadName(id))).isTrue();
    line.clear(jobs.registry());
    settle();
    assertThat(line.heard()).isEmpty();
    assertThat(job("k").failures()).isEqualTo(1);
    assertThat(jobs.registry().failures(job.id()))
        .singleElement()
        .satisfies(failure -> assertThat(failure.info()).isEqualTo("its payload is not there"));
    submit("next");
    settle();
    assertThat(line.heard()).containsExactly("payload of next");
    assertThat(workers.find("w").orElseThrow().tally().failed()).isZero();
  }

  @Test
  void what_a_worker_did_last_counts_when_it_has_gone_before_that_is_settled() {
    TestLine line = TestLine.ready(workers, "w");
    submit("k");
    settle();
    line.result("r");
    line.breakOff();
    settle();
    assertThat(job("k").status()).isEqualTo(JobStatus.DONE);
    assertThat(workers.find("w").orElseThrow().tally().succeeded()).isEqualTo(1);
    assertThat(workers.list()).allMatch(view -> view.tally().succeeded() == 1);
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

  @Test
  void progress_is_told_from_a_number_on_and_of_each_job_the_last_word() {
    TestLine line = TestLine.open(workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"m\",\"token\":\"right\",\"jobs\":2}");
    line.tell("{\"code\":1,\"status\":1}");
    Job a = submit("a");
    Job b = submit("b");
    settle();
    assertThat(workers.advances(0)).isEqualTo(new Advances(0, List.of()));
    line.progress(a, 10);
    line.progress(b, 20);
    line.progress(a, 30);
    Advances both = workers.advances(0);
    assertThat(both.jobs())
        .extracting(each -> each.job().key() + " " + each.progress().percent())
        .containsExactly("b 20.0", "a 30.0");
    assertThat(workers.advances(both.number()).jobs()).isEmpty();
    line.progress(b, 40);
    assertThat(workers.advances(both.number()).jobs())
        .extracting(each -> each.job().key())
        .containsExactly("b");
    line.tell("{\"code\":4,\"info\":\"no\",\"logs\":null,\"job\":\"" + b.id() + "\"}");
    assertThat(workers.advances(0).jobs())
        .extracting(each -> each.job().key())
        .containsExactly("a");
  }

  @Test
  void whoever_observes_hears_of_every_attempt_and_of_what_came_too_late() {
    List<String> heard = new ArrayList<>();
    workers.observeBy(
        new JobObserver() {
          @Override
          public void dispatched(Assignment assignment, long waitedMillis) {
            heard.add(assignment.job().key() + " after " + waitedMillis);
          }

          @Override
          public void ended(Report report) {
            heard.add(report.getClass().getSimpleName());
          }

          @Override
          public void refused(String type) {
            heard.add("refused");
          }
        });
    TestLine first = TestLine.ready(workers, "first");
    submit("a");
    settle();
    first.breakOff();
    settle();
    TestLine second = TestLine.ready(workers, "second");
    settle();
    jobs.registry().cancel("a");
    advance(JobsOptions.DEFAULTS.lease().dividedBy(3));
    second.result("late");
    submit("b");
    second.tell("{\"code\":1,\"status\":1}");
    settle();
    second.result("right");
    settle();
    assertThat(heard)
        .containsExactly("a after 0", "Returned", "a after 0", "refused", "b after 0", "Completed");
  }

  @Test
  void a_job_that_did_not_reach_the_worker_that_asked_is_offered_again_at_once() {
    Polls polls = new Polls(workers, jobs.registry());
    submit("k");
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    workers.wakeBy(this::settleOnce);
    Assignment first = polls.next("", who, Duration.ofMinutes(1)).orElseThrow();
    polls.undelivered(first);
    settle();
    assertThat(job("k").status()).isEqualTo(JobStatus.PENDING);
    assertThat(job("k").failures()).isZero();
    dispatcher.mayHaveMissed();
    Assignment second = polls.next("", who, Duration.ofMinutes(1)).orElseThrow();
    polls.undelivered(first);
    settle();
    assertThat(job("k").hand().claim()).isEqualTo(second.claim());
  }

  @Test
  void a_job_whose_payload_is_lost_fails_once_for_a_worker_that_asks_too() {
    Polls polls = new Polls(workers, jobs.registry());
    submit("k");
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    workers.wakeBy(this::settleOnce);
    Assignment first = polls.next("", who, Duration.ofMinutes(1)).orElseThrow();
    polls.missing(first);
    polls.missing(first);
    settle();
    assertThat(job("k").failures()).isEqualTo(1);
    assertThat(jobs.registry().failures(first.job().id()))
        .extracting(Failure::info)
        .containsExactly("its payload is not there");
    dispatcher.mayHaveMissed();
    Registration other = Registration.single("n", new WorkerId("q"), "right");
    Assignment second = polls.next("", other, Duration.ofMinutes(1)).orElseThrow();
    polls.missing(first);
    settle();
    assertThat(job("k").hand().claim()).isEqualTo(second.claim());
  }

  @Test
  void a_worker_that_asks_without_waiting_gets_a_job_that_waits_and_else_goes_at_once() {
    Polls polls = new Polls(workers, jobs.registry());
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    workers.wakeBy(this::settleOnce);
    assertThat(polls.next("", who, Duration.ZERO)).isEmpty();
    jobs.registry()
        .submit(
            jobs.registry().newId(),
            new Submission("", Priority.IMMEDIATE, "unnoticed", null),
            new Value.Inline(new byte[0]));
    assertThat(polls.next("", who, Duration.ZERO))
        .hasValueSatisfying(given -> assertThat(given.job().key()).isEqualTo("unnoticed"));
    assertThat(polls.next("", who, Duration.ZERO)).isEmpty();
  }

  @Test
  void a_worker_that_asks_repeats_its_result_when_a_full_store_has_room_again() throws Exception {
    Polls polls = new Polls(workers, jobs.registry());
    submit("k");
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    workers.wakeBy(this::settleOnce);
    Assignment attempt = polls.next("", who, Duration.ofMinutes(1)).orElseThrow();
    List<String> others = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                String key = "x".repeat(200) + others.size();
                submit(key);
                others.add(key);
              }
            })
        .isInstanceOf(JobsFullException.class);
    byte[] result = new byte[4_000];
    assertThatThrownBy(
            () -> polls.complete("k", attempt.claim().token(), new ByteArrayInputStream(result)))
        .isInstanceOf(JobsFullException.class);
    others.subList(0, 10).forEach(key -> jobs.registry().delete(key));
    assertThat(polls.complete("k", attempt.claim().token(), new ByteArrayInputStream(result)))
        .isInstanceOf(Settled.Accepted.class);
    assertThat(job("k").status()).isEqualTo(JobStatus.DONE);
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

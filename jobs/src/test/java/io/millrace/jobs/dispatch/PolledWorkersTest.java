package io.millrace.jobs.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException.JobsFullException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.PolledWorkers;
import io.millrace.jobs.worker.Registration;
import io.millrace.jobs.worker.WorkerView;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers that ask for their jobs, in virtual time. */
class PolledWorkersTest {
  private final VirtualWorkers world;

  PolledWorkersTest(@TempDir Path folder) {
    world = new VirtualWorkers(folder);
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void a_polled_worker_whose_job_is_cancelled_is_there_no_more() throws Exception {
    PolledWorkers polls = new PolledWorkers(world.workers, world.registry());
    world.submit("k");
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    world.workers.wakeBy(world::settleOnce);
    assertThat(polls.next("", who, Duration.ofMinutes(1))).isPresent();
    world.registry().cancel("k");
    world.advance(Jobs.Options.DEFAULTS.lease());
    assertThat(world.workers.find("p").map(view -> view.state()))
        .isEqualTo(Optional.of(WorkerView.State.DISCONNECTED));
  }

  @Test
  void a_job_that_did_not_reach_the_worker_that_asked_is_offered_again_at_once() {
    PolledWorkers polls = new PolledWorkers(world.workers, world.registry());
    world.submit("k");
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    world.workers.wakeBy(world::settleOnce);
    Assignment first = polls.next("", who, Duration.ofMinutes(1)).orElseThrow();
    polls.undelivered(first, null);
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.PENDING);
    assertThat(world.job("k").failures()).isZero();
    world.mayHaveMissed();
    Assignment second = polls.next("", who, Duration.ofMinutes(1)).orElseThrow();
    polls.undelivered(first, null);
    world.settle();
    assertThat(world.job("k").hand().claim()).isEqualTo(second.claim());
  }

  @Test
  void a_job_whose_payload_is_lost_fails_once_for_a_worker_that_asks_too() {
    PolledWorkers polls = new PolledWorkers(world.workers, world.registry());
    world.submit("k");
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    world.workers.wakeBy(world::settleOnce);
    Assignment first = polls.next("", who, Duration.ofMinutes(1)).orElseThrow();
    polls.missing(first);
    polls.missing(first);
    world.settle();
    assertThat(world.job("k").failures()).isEqualTo(1);
    assertThat(world.registry().failures(first.job().id()))
        .extracting(Failure::info)
        .containsExactly("its payload is not there");
    world.mayHaveMissed();
    Registration other = Registration.single("n", new WorkerId("q"), "right");
    Assignment second = polls.next("", other, Duration.ofMinutes(1)).orElseThrow();
    polls.missing(first);
    world.settle();
    assertThat(world.job("k").hand().claim()).isEqualTo(second.claim());
  }

  @Test
  void a_worker_that_asks_without_waiting_gets_a_job_that_waits_and_else_goes_at_once() {
    PolledWorkers polls = new PolledWorkers(world.workers, world.registry());
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    world.workers.wakeBy(world::settleOnce);
    assertThat(polls.next("", who, Duration.ZERO)).isEmpty();
    world
        .registry()
        .submit(
            world.registry().newId(),
            new Submission("", Priority.IMMEDIATE, "unnoticed", null),
            new Value.Inline(new byte[0]));
    assertThat(polls.next("", who, Duration.ZERO))
        .hasValueSatisfying(given -> assertThat(given.job().key()).isEqualTo("unnoticed"));
    assertThat(polls.next("", who, Duration.ZERO)).isEmpty();
  }

  @Test
  void a_worker_that_asks_repeats_its_result_when_a_full_store_has_room_again() throws Exception {
    PolledWorkers polls = new PolledWorkers(world.workers, world.registry());
    world.submit("k");
    Registration who = Registration.single("n", new WorkerId("p"), "right");
    world.workers.wakeBy(world::settleOnce);
    Assignment attempt = polls.next("", who, Duration.ofMinutes(1)).orElseThrow();
    List<String> others = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                String key = "x".repeat(200) + others.size();
                world.submit(key);
                others.add(key);
              }
            })
        .isInstanceOf(JobsFullException.class);
    byte[] result = new byte[4_000];
    assertThatThrownBy(
            () -> polls.complete("k", attempt.claim().token(), new ByteArrayInputStream(result)))
        .isInstanceOf(JobsFullException.class);
    others.subList(0, 10).forEach(key -> world.registry().delete(key));
    assertThat(polls.complete("k", attempt.claim().token(), new ByteArrayInputStream(result)))
        .isInstanceOf(Settled.Accepted.class);
    assertThat(world.job("k").status()).isEqualTo(JobStatus.DONE);
  }
}

package io.millrace.jobs.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.registry.Jobs;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that something happens to between their assignment and their way to the worker. */
class UnsentJobsTest {
  private final VirtualWorkers world;

  UnsentJobsTest(@TempDir Path folder) {
    world = new VirtualWorkers(folder);
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void a_job_that_is_deleted_before_it_is_sent_costs_its_worker_nothing() {
    TestLine line = TestLine.ready(world.workers, "w");
    line.jam();
    world.submit("k");
    world.settle();
    world.registry().delete("k");
    line.clear(world.registry());
    world.settle();
    assertThat(line.heard()).isEmpty();
    world.submit("next");
    world.settle();
    assertThat(line.heard()).containsExactly("payload of next");
    assertThat(world.workers.find("w").orElseThrow().tally().failed()).isZero();
  }

  @Test
  void a_job_that_is_cancelled_before_it_is_sent_is_not_sent() {
    TestLine line = TestLine.ready(world.workers, "w");
    line.jam();
    world.submit("k");
    world.settle();
    world.registry().cancel("k");
    world.advance(Jobs.Options.DEFAULTS.lease().dividedBy(3));
    line.clear(world.registry());
    world.submit("next");
    world.settle();
    assertThat(line.heard()).contains("payload of next").doesNotContain("payload of k");
    assertThat(world.job("k").status()).isEqualTo(JobStatus.FAILED);
  }

  @Test
  void a_job_that_was_given_again_while_it_waited_is_sent_once() {
    TestLine line = TestLine.open(world.workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"m\",\"token\":\"right\",\"jobs\":2}");
    line.tell("{\"code\":1,\"status\":1}");
    line.heard();
    line.jam();
    world.submit("k");
    world.settle();
    world.registry().cancel("k");
    world.advance(Jobs.Options.DEFAULTS.lease().dividedBy(3));
    world.registry().retry("k");
    world.mayHaveMissed();
    world.settle();
    line.clear(world.registry());
    assertThat(line.heard()).containsOnlyOnce("payload of k");
    assertThat(world.job("k").status()).isEqualTo(JobStatus.RUNNING);
  }

  @Test
  void a_job_whose_payload_is_lost_fails_and_costs_its_workers_nothing() {
    TestLine line = TestLine.ready(world.workers, "w");
    line.jam();
    JobId id = world.registry().newId();
    InputStream content = new ByteArrayInputStream(new byte[Value.INLINE_LIMIT + 1]);
    Value payload = Value.keep(JobRegistry.payloadName(id), content, world.blobs);
    Job job = world.submit(id, "k", payload);
    world.settle();
    assertThat(world.blobs.delete(JobRegistry.payloadName(id))).isTrue();
    line.clear(world.registry());
    world.settle();
    assertThat(line.heard()).isEmpty();
    assertThat(world.job("k").failures()).isEqualTo(1);
    assertThat(world.registry().failures(job.id()))
        .singleElement()
        .satisfies(failure -> assertThat(failure.info()).isEqualTo("its payload is not there"));
    world.submit("next");
    world.settle();
    assertThat(line.heard()).containsExactly("payload of next");
    assertThat(world.workers.find("w").orElseThrow().tally().failed()).isZero();
  }
}

package io.millrace.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.jobs.JobKind;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.Configuration.Flag;
import io.millrace.server.jobs.JobsPart;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LocalJobWorkerTest {
  private static final int JOBS = 1_000;
  private static final JobKind<Integer, Void> NUMBER = JobKind.of("number", Integer.class);

  @TempDir private Path folder;

  /** A job that ends in the moment of a sign of life is no job that was cancelled. */
  @Test
  void signs_of_life_disturb_neither_the_end_of_a_job_nor_the_wait_for_the_next_one()
      throws InterruptedException {
    Configuration configuration =
        Configuration.read(
            MillraceServer.SECTIONS,
            null,
            List.of(
                new Flag("store.data", folder.toString(), "test"),
                new Flag("jobs.types.number.description", "Integer", "test")));
    Queue<Integer> order = new ConcurrentLinkedQueue<>();
    Queue<Integer> disturbed = new ConcurrentLinkedQueue<>();
    CountDownLatch done = new CountDownLatch(JOBS);
    try (MillraceServer server = MillraceServer.startWithoutHttp(configuration)) {
      JobsPart jobs = server.part(JobsPart.class);
      LocalJobClient client = new LocalJobClient(jobs);
      IntStream.range(0, JOBS).forEach(number -> client.submit(NUMBER, number));
      LocalJobWorker worker =
          LocalJobWorker.start(
              jobs,
              "number",
              1,
              NUMBER.handledBy((number, job) -> {
                order.add(number);
                if (job.isCancelled() || Thread.currentThread().isInterrupted()) {
                  disturbed.add(number);
                }
                done.countDown();
                return null;
              }),
              Duration.ZERO);
      assertThat(done.await(50, TimeUnit.SECONDS)).isTrue();
      worker.close(Duration.ofSeconds(10));
    }
    assertThat(disturbed).isEmpty();
    assertThat(order).containsExactlyElementsOf(IntStream.range(0, JOBS).boxed().toList());
  }
}

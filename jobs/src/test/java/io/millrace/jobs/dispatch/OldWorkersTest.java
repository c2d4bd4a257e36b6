package io.millrace.jobs.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.WorkerView;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that GridLike reads, though they are not of the form that its documents show. */
class OldWorkersTest {
  private final VirtualWorkers world;

  OldWorkersTest(@TempDir Path folder) {
    world = new VirtualWorkers(folder);
  }

  @AfterEach
  void close() {
    world.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"Code\":0,\"Name\":\"n\",\"Id\":\"w\",\"Token\":\"right\"}",
        "{\"CODE\":\"0\",\"NAME\":\"n\",\"ID\":\"w\",\"TOKEN\":\"right\"}",
        "{\"code\":0,\"name\":\"w\",\"token\":\"right\"}",
        "{\"code\":0,\"id\":\"w\",\"token\":\"right\"}",
        "{\"code\":0,\"name\":1,\"name\":\"n\",\"id\":\"w\",\"token\":\"right\",\"more\":{}}",
        "{\"Name\":\"wrong\",\"Token\":\"wrong\",\"code\":0,\"name\":\"n\",\"id\":\"w\","
            + "\"token\":\"right\",\"TOKEN\":\"wrong\"}"
      })
  void a_registration_is_read_whatever_the_case_of_its_names(String registration) {
    TestLine line = TestLine.open(world.workers);
    line.tell(registration);
    assertThat(line.heard()).containsExactly("{\"code\":2}");
    line.tell("{\"Code\":1,\"Status\":\"1\"}");
    assertThat(world.workers.find("w").orElseThrow().state()).isEqualTo(WorkerView.State.READY);
  }

  @Test
  void progress_and_failures_are_read_too() {
    TestLine line = TestLine.ready(world.workers, "w");
    Job job = world.submit("k");
    world.settle();
    line.heard();
    line.tell("{\"Code\":3,\"Percent\":\"12.5\",\"Info\":7}");
    assertThat(world.workers.progress(job.id())).contains(new Progress(12.5, "7", 0));
    line.tell("{\"code\":3,\"percent\":100.0001,\"info\":null}");
    assertThat(world.workers.progress(job.id())).contains(new Progress(100.0, null, 0));
    line.tell("{\"code\":3,\"percent\":NaN,\"info\":\"dividing\"}");
    assertThat(world.workers.progress(job.id())).contains(new Progress(null, "dividing", 0));
    line.tell("{\"Code\":4,\"Info\":\"no\",\"Logs\":\"long\"}");
    world.settle();
    assertThat(line.heard()).isEmpty();
    assertThat(world.registry().failures(job.id()))
        .singleElement()
        .satisfies(failure -> assertThat(failure.logs()).isEqualTo("long"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"code\":99}",
        "{\"code\":-1}",
        "{\"code\":2}",
        "{\"code\":5}",
        "{\"code\":9223372036854775807}",
        "{\"code\":1,\"status\":2}",
        "{\"code\":0,\"name\":\"again\",\"id\":\"again\",\"token\":\"right\"}"
      })
  void what_is_not_known_is_ignored_and_the_job_goes_on(String message) {
    TestLine line = TestLine.ready(world.workers, "w");
    world.submit("k");
    world.settle();
    line.heard();
    line.tell(message);
    assertThat(line.heard()).isEmpty();
    line.result("r");
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.DONE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"code\":3,\"percent\":1.0,\"info\":null}",
        "{\"code\":4,\"info\":null,\"logs\":null}"
      })
  void what_a_worker_says_of_a_job_that_it_does_not_have_is_ignored(String message) {
    TestLine line = TestLine.ready(world.workers, "w");
    line.tell(message);
    assertThat(line.heard()).isEmpty();
    assertThat(world.workers.find("w").orElseThrow().tally().failed()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '#',
      value = {
        "{\"code\":3,\"percent\":1.0,\"info\":null}|progress",
        "{\"code\":4,\"info\":\"no\",\"logs\":null}|the failure",
        "{\"code\":3,\"percent\":1.0,\"job\":\"00000000-0000-7000-8000-000000000000\"}|progress",
        "{\"code\":4,\"info\":\"no\",\"job\":\"00000000-0000-7000-8000-000000000000\"}|the failure"
      })
  void a_worker_of_several_jobs_is_disconnected_and_its_jobs_are_offered_again(
      String message, String what) {
    TestLine line = TestLine.open(world.workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"m\",\"token\":\"right\",\"jobs\":3}");
    line.tell("{\"code\":1,\"status\":1}");
    world.submit("a");
    world.submit("b");
    world.settle();
    line.heard();
    line.tell(message);
    assertThat(line.heard())
        .containsExactly("closed 1008 " + what + " of a job that it does not have");
    world.settle();
    assertThat(world.job("a").status()).isEqualTo(JobStatus.PENDING);
    assertThat(world.job("b").returns()).isEqualTo(1);
  }

  @Test
  void a_status_before_the_registration_is_ignored() {
    TestLine line = TestLine.open(world.workers);
    line.tell("{\"code\":1,\"status\":1}");
    assertThat(line.heard()).isEmpty();
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"w\",\"token\":\"right\"}");
    assertThat(line.heard()).containsExactly("{\"code\":2}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "[0]", "{\"code\":{}}", "{\"code\":\"register\"}", "{\"code\":0}"})
  void what_cannot_be_read_closes_the_connection(String message) {
    TestLine line = TestLine.open(world.workers);
    line.tell(message);
    assertThat(line.heard())
        .singleElement()
        .satisfies(heard -> assertThat(heard).startsWith("closed 1007 "));
  }
}

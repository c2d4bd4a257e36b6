package io.millrace.jobs.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Report;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.JobObserver;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.WorkerView;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Manager, dispatcher and registry together, stepped by hand in virtual time. */
class WorkersInVirtualTimeTest {
  private final VirtualWorkers world;

  WorkersInVirtualTimeTest(@TempDir Path folder) {
    world = new VirtualWorkers(folder);
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void a_job_goes_to_a_ready_worker_and_its_result_is_kept() {
    TestLine line = TestLine.ready(world.workers, "w");
    world.submit("k");
    world.settle();
    assertThat(line.heard()).containsExactly("payload of k");
    assertThat(world.job("k").status()).isEqualTo(JobStatus.RUNNING);
    line.result("r");
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.DONE);
    assertThat(world.workers.find("w").orElseThrow().tally().succeeded()).isEqualTo(1);
  }

  @Test
  void silence_and_a_wrong_token_are_closed_after_the_grace_time() {
    TestLine silent = TestLine.open(world.workers);
    TestLine wrong = TestLine.open(world.workers);
    wrong.tell("{\"code\":0,\"name\":\"n\",\"id\":\"i\",\"token\":\"wrong\"}");
    world.advance(Duration.ofMillis(499));
    assertThat(silent.heard()).isEmpty();
    assertThat(wrong.heard()).isEmpty();
    world.advance(Duration.ofMillis(1));
    assertThat(silent.heard()).containsExactly("closed 1008 no registration came within 500 ms");
    assertThat(wrong.heard()).containsExactly("closed 1008 the token is wrong");
  }

  @Test
  void progress_is_seen_at_once_and_progress_of_neither_kind_is_refused() {
    TestLine line = TestLine.ready(world.workers, "w");
    Job job = world.submit("k");
    world.settle();
    line.heard();
    line.tell("{\"code\":3,\"percent\":12.5,\"info\":null}");
    assertThat(world.workers.progress(job.id())).contains(new Progress(12.5, null, 0));
    line.tell("{\"code\":3,\"percent\":null,\"info\":null}");
    assertThat(line.heard())
        .containsExactly("closed 1007 progress has \"percent\" or \"info\", or both");
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.PENDING);
    assertThat(world.job("k").failures()).isZero();
  }

  @Test
  void a_stuck_job_is_asked_about_taken_back_and_its_late_result_refused() {
    TestLine slow = TestLine.ready(world.workers, "slow");
    world.submit("k");
    world.settle();
    slow.heard();
    for (int i = 0; i < 3; i++) {
      world.advance(Duration.ofSeconds(20));
      slow.pong();
    }
    assertThat(slow.heard()).contains("{\"code\":2}");
    world.advance(Duration.ofSeconds(10));
    assertThat(world.job("k").status()).isEqualTo(JobStatus.PENDING);
    assertThat(world.job("k").failures()).isEqualTo(1);
    TestLine other = TestLine.ready(world.workers, "other");
    world.settle();
    assertThat(other.heard()).containsExactly("payload of k");
    slow.heard();
    slow.result("late");
    world.settle();
    assertThat(slow.heard().getFirst()).contains("\"refused\":\"" + world.job("k").id() + "\"");
    assertThat(world.job("k").status()).isEqualTo(JobStatus.RUNNING);
    other.result("right");
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.DONE);
    assertThat(world.job("k").hand().worker()).hasToString("other");
  }

  @Test
  void a_busy_answer_keeps_the_job_and_a_ready_that_crosses_it_does_not_free_it() {
    TestLine line = TestLine.ready(world.workers, "w");
    world.submit("k");
    world.settle();
    line.tell("{\"code\":1,\"status\":1}");
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.RUNNING);
    for (int i = 0; i < 9; i++) {
      world.advance(Duration.ofSeconds(20));
      line.tell("{\"code\":1,\"status\":0}");
    }
    assertThat(world.job("k").status()).isEqualTo(JobStatus.RUNNING);
    assertThat(world.workers.find("w").map(view -> view.state()))
        .isEqualTo(Optional.of(WorkerView.State.BUSY));
  }

  @Test
  void a_failed_job_goes_to_another_worker_behind_work_that_has_not_failed() {
    TestLine first = TestLine.ready(world.workers, "first");
    world.submit("k");
    world.settle();
    first.tell("{\"code\":4,\"info\":\"no\",\"logs\":\"long\"}");
    world.settle();
    first.heard();
    world.advance(Duration.ofSeconds(5));
    assertThat(first.heard()).isEmpty();
    world.submit("fresh");
    TestLine second = TestLine.ready(world.workers, "second");
    world.settle();
    assertThat(first.heard()).containsExactly("payload of fresh");
    assertThat(second.heard()).containsExactly("payload of k");
    assertThat(world.registry().failures(world.job("k").id()))
        .singleElement()
        .satisfies(failure -> assertThat(failure.logs()).isEqualTo("long"));
  }

  @Test
  void the_job_of_a_worker_that_leaves_is_offered_again_at_once() {
    TestLine first = TestLine.ready(world.workers, "first");
    world.submit("k");
    world.settle();
    first.breakOff();
    TestLine second = TestLine.ready(world.workers, "second");
    world.mayHaveMissed();
    world.settle();
    assertThat(second.heard()).containsExactly("payload of k");
    assertThat(world.job("k").failures()).isZero();
    assertThat(world.workers.find("first").map(view -> view.state()))
        .isEqualTo(Optional.of(WorkerView.State.DISCONNECTED));
  }

  @Test
  void what_a_worker_did_last_counts_when_it_has_gone_before_that_is_settled() {
    TestLine line = TestLine.ready(world.workers, "w");
    world.submit("k");
    world.settle();
    line.result("r");
    line.breakOff();
    world.settle();
    assertThat(world.job("k").status()).isEqualTo(JobStatus.DONE);
    assertThat(world.workers.find("w").orElseThrow().tally().succeeded()).isEqualTo(1);
    assertThat(world.workers.list()).allMatch(view -> view.tally().succeeded() == 1);
  }

  @Test
  void a_silent_peer_is_pinged_and_closed_in_the_end() {
    TestLine line = TestLine.ready(world.workers, "w");
    world.advance(Duration.ofSeconds(20));
    assertThat(line.heard()).containsExactly("ping");
    world.advance(Duration.ofSeconds(20));
    world.advance(Duration.ofSeconds(20));
    assertThat(line.heard()).contains("closed 1008 there was no sign of life, not even a pong");
  }

  @Test
  void a_worker_of_several_jobs_hears_which_and_says_which() {
    TestLine line = TestLine.open(world.workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"m\",\"token\":\"right\",\"jobs\":2}");
    line.tell("{\"code\":1,\"status\":1}");
    world.submit("a");
    Job b = world.submit("b");
    world.settle();
    assertThat(line.heard()).contains("payload of a", "payload of b");
    line.tell("{\"code\":6,\"job\":\"" + b.id() + "\"}");
    line.result("of b");
    world.settle();
    assertThat(world.job("b").status()).isEqualTo(JobStatus.DONE);
    assertThat(world.job("a").status()).isEqualTo(JobStatus.RUNNING);
    line.result("of what?");
    assertThat(line.heard()).contains("closed 1008 a result comes after code 6");
  }

  @Test
  void a_worker_that_has_named_its_jobs_hears_at_once_that_one_was_taken_from_it() {
    TestLine line = TestLine.open(world.workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"m\",\"token\":\"right\",\"jobs\":1}");
    line.tell("{\"code\":1,\"status\":1}");
    TestLine original = TestLine.ready(world.workers, "original");
    Job k = world.submit("k");
    world.submit("l");
    world.settle();
    assertThat(line.heard()).contains("payload of k");
    assertThat(original.heard()).containsExactly("payload of l");
    world.registry().cancel("k");
    world.registry().cancel("l");
    world.advance(Jobs.Options.DEFAULTS.lease().dividedBy(2));
    assertThat(line.heard())
        .contains(
            "{\"code\":2,\"refused\":\"" + k.id() + "\",\"info\":\"the job was taken from you\"}");
    assertThat(original.heard()).noneMatch(message -> message.contains("refused"));
  }

  @Test
  void progress_is_told_from_a_number_on_and_of_each_job_the_last_word() {
    TestLine line = TestLine.open(world.workers);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"m\",\"token\":\"right\",\"jobs\":2}");
    line.tell("{\"code\":1,\"status\":1}");
    Job a = world.submit("a");
    Job b = world.submit("b");
    world.settle();
    assertThat(world.workers.progressSince(0)).isEqualTo(new Progress.Updates(0, List.of()));
    line.progress(a, 10);
    line.progress(b, 20);
    line.progress(a, 30);
    Progress.Updates both = world.workers.progressSince(0);
    assertThat(both.jobs())
        .extracting(each -> each.job().key() + " " + each.progress().percent())
        .containsExactly("b 20.0", "a 30.0");
    assertThat(world.workers.progressSince(both.number()).jobs()).isEmpty();
    line.progress(b, 40);
    assertThat(world.workers.progressSince(both.number()).jobs())
        .extracting(each -> each.job().key())
        .containsExactly("b");
    line.tell("{\"code\":4,\"info\":\"no\",\"logs\":null,\"job\":\"" + b.id() + "\"}");
    assertThat(world.workers.progressSince(0).jobs())
        .extracting(each -> each.job().key())
        .containsExactly("a");
  }

  @Test
  void whoever_observes_hears_of_every_attempt_and_of_what_came_too_late() {
    List<String> heard = new ArrayList<>();
    world.workers.observeBy(
        new JobObserver() {
          @Override
          public void dispatched(Assignment assignment, long waitedMillis) {
            heard.add(assignment.job().key() + " after " + waitedMillis);
          }

          @Override
          public void ended(Report report, Job now) {
            heard.add(report.getClass().getSimpleName());
          }

          @Override
          public void refused(String type) {
            heard.add("refused");
          }
        });
    TestLine first = TestLine.ready(world.workers, "first");
    world.submit("a");
    world.settle();
    first.breakOff();
    world.settle();
    TestLine second = TestLine.ready(world.workers, "second");
    world.settle();
    world.registry().cancel("a");
    world.advance(Jobs.Options.DEFAULTS.lease().dividedBy(3));
    second.result("late");
    world.submit("b");
    second.tell("{\"code\":1,\"status\":1}");
    world.settle();
    second.result("right");
    world.settle();
    assertThat(heard)
        .containsExactly("a after 0", "Returned", "a after 0", "refused", "b after 0", "Completed");
  }
}

package io.millrace.jobs.registry;

import static io.millrace.jobs.registry.JobsFixture.A;
import static io.millrace.jobs.registry.JobsFixture.B;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Failure.Wish;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.policy.Policy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that may wait, or take, for a limited time, over any store. */
public abstract class JobTimeoutsContract {
  private static final Jobs.Options OPTIONS = new Jobs.Options(3, 3, 5, Duration.ofHours(2));
  private static final JobTypes TYPES =
      JobTypes.of(
          List.of(
              new JobType("plain", null, null),
              new JobType("typed", null, "typed-next", Policy.parse("wait_timeout=5m timeout=10m")),
              new JobType("typed-next", null, null, Policy.parse("wait_timeout=5m"))));

  private StoreFixture store;
  private JobsFixture world;

  /** An empty store. */
  protected abstract StoreFixture open();

  @BeforeEach
  void begin(@TempDir Path folder) {
    store = open();
    world = new JobsFixture(store, folder, TYPES, OPTIONS);
  }

  @AfterEach
  void end() {
    store.close();
  }

  private Job submit(String type, Duration delay, String settings) {
    Policy policy = settings.isEmpty() ? Policy.NONE : Policy.parse(settings);
    long notBefore = delay.isZero() ? 0 : world.now().plus(delay).toEpochMilli();
    return world.submit(
        new Submission(type, Priority.BATCH, null, null, notBefore, policy), "payload");
  }

  private Job submit(String settings) {
    return submit("plain", Duration.ZERO, settings);
  }

  private Job job(Job job) {
    return world.job(job.id());
  }

  private void pass(Duration time) {
    world.advance(time);
    world.jobs().timeouts().step(world.now());
  }

  private int deadlines() {
    return world.store().documents(DocumentQuery.prefix("jobs.deadlines", "")).value().size();
  }

  private String reason(Job job) {
    return String.valueOf(world.registry().failures(job.id()).getLast().info());
  }

  private Job fail(Assignment assignment, Wish wish) {
    Failure failure =
        new Failure(assignment.worker(), world.now().toEpochMilli(), "no", null, wish);
    return world.accepted(new Report.Failed(assignment, failure));
  }

  @Test
  void a_job_that_waits_too_long_has_failed_and_says_why() {
    Job job = submit("wait_timeout=5m");
    pass(Duration.ofMinutes(4));
    assertThat(job(job).status()).isEqualTo(JobStatus.PENDING);
    world.restart();
    pass(Duration.ofSeconds(61));
    assertThat(job(job).status()).isEqualTo(JobStatus.FAILED);
    assertThat(reason(job)).isEqualTo("it waited longer than its wait_timeout of 5m");
    assertThat(world.registry().assign("plain", List.of(A))).isEmpty();
    assertThat(deadlines()).isZero();
    world.registry().retry(job.id().toString());
    pass(Duration.ofMinutes(4));
    assertThat(job(job).status()).isEqualTo(JobStatus.PENDING);
    pass(Duration.ofSeconds(61));
    assertThat(job(job).status()).isEqualTo(JobStatus.FAILED);
    assertThat(world.registry().failures(job.id())).hasSize(2);
  }

  @Test
  void a_job_without_limits_has_the_form_of_old_versions() {
    Job job = submit("attempts=2");
    assertThat(world.store().document(Keys.job(job.id())).value().orElseThrow().body().utf8())
        .doesNotContain("imeout")
        .doesNotContain("deadline");
    assertThat(deadlines()).isZero();
  }

  @Test
  void a_wait_begins_when_the_job_may_run_and_anew_before_each_attempt() {
    String settings = "wait_timeout=5m attempts=3 retry_delay=10m retry_jitter=0";
    Job job = submit("plain", Duration.ofMinutes(30), settings);
    pass(Duration.ofMinutes(34));
    Assignment first = world.assign("plain", A);
    assertThat(deadlines()).isZero();
    pass(Duration.ofMinutes(10));
    fail(first, Wish.NONE);
    pass(Duration.ofMinutes(14));
    Assignment second = world.assign("plain", B);
    pass(Duration.ofMinutes(10));
    world.accepted(new Report.Returned(second, "its worker is gone"));
    pass(Duration.ofMinutes(4));
    Assignment third = world.assign("plain", B);
    fail(third, new Wish(null, Duration.ofHours(1), true));
    pass(Duration.ofMinutes(64));
    assertThat(job(job).status()).isEqualTo(JobStatus.PENDING);
    pass(Duration.ofSeconds(61));
    assertThat(job(job).status()).isEqualTo(JobStatus.FAILED);
    assertThat(deadlines()).isZero();
  }

  @Test
  void an_attempt_that_takes_too_long_is_a_failure_that_is_retried() {
    Job job = submit("timeout=5m attempts=2 retry_delay=1m retry_jitter=0");
    Assignment first = world.assign("plain", A);
    pass(Duration.ofMinutes(6));
    assertThat(job(job).status()).isEqualTo(JobStatus.PENDING);
    assertThat(job(job).failures()).isEqualTo(1);
    assertThat(reason(job)).isEqualTo("it took longer than its timeout of 5m");
    assertThat(world.registry().failures(job.id()).getLast().wish().code()).isEqualTo("timeout");
    // What the worker has done after that comes too late.
    assertThat(world.settle(world.completed(first, "late"))).isInstanceOf(Settled.Refused.class);
    pass(Duration.ofMinutes(2));
    world.assign("plain", B);
    pass(Duration.ofMinutes(6));
    assertThat(job(job).status()).isEqualTo(JobStatus.FAILED);
    Job excepted = submit("timeout=5m attempts=9 retry_except=timeout");
    world.assign("plain", A);
    pass(Duration.ofMinutes(6));
    assertThat(job(excepted).status()).isEqualTo(JobStatus.FAILED);
    assertThat(deadlines()).isZero();
  }

  @Test
  void the_whole_counts_over_all_attempts_and_is_not_retried() {
    String settings = "total_timeout=30m attempts=9 retry_delay=10m retry_jitter=0";
    Job running = submit(settings);
    Assignment first = world.assign("plain", A);
    pass(Duration.ofMinutes(15));
    fail(first, Wish.NONE);
    Job pending = submit(settings);
    pass(Duration.ofMinutes(11));
    // The one that has not failed comes first.
    Assignment other = world.assign("plain", B);
    assertThat(other.job().id()).isEqualTo(pending.id());
    world.assign("plain", B);
    pass(Duration.ofMinutes(5));
    assertThat(job(running).status()).isEqualTo(JobStatus.FAILED);
    assertThat(reason(running)).isEqualTo("it took longer than its total_timeout of 30m");
    fail(other, Wish.NONE);
    pass(Duration.ofMinutes(15));
    assertThat(job(pending).status()).isEqualTo(JobStatus.FAILED);
    assertThat(reason(pending)).isEqualTo("it took longer than its total_timeout of 30m");
    assertThat(deadlines()).isZero();
  }

  @Test
  void a_type_has_limits_for_its_jobs_and_for_those_that_are_made_of_results() {
    submit("typed", Duration.ZERO, "");
    Assignment assignment = world.assign("typed", A);
    assertThat(deadlines()).isEqualTo(1);
    Job done = world.accepted(world.completed(assignment, "result"));
    Job child = world.job(Objects.requireNonNull(done.line().child()));
    pass(Duration.ofMinutes(6));
    assertThat(job(child).status()).isEqualTo(JobStatus.FAILED);
    assertThat(deadlines()).isZero();
  }

  @Test
  void a_job_that_is_deleted_or_cancelled_has_no_deadline_any_more() {
    Job running = submit("timeout=5m");
    world.assign("plain", A);
    Job deleted = submit("wait_timeout=5m");
    Job cancelled = submit("total_timeout=5m");
    assertThat(deadlines()).isEqualTo(3);
    for (Job each : List.of(deleted, running)) {
      assertThat(world.registry().delete(each.id().toString())).isPresent();
    }
    world.registry().cancel(cancelled.id().toString());
    assertThat(deadlines()).isZero();
  }

  @Test
  void many_jobs_end_once_over_a_line_that_breaks() {
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      jobs.add(submit("timeout=5m total_timeout=7m retry_delay=1s retry_jitter=0"));
    }
    for (int i = 0; i < 6; i++) {
      world.assign("plain", A);
    }
    AtomicInteger calls = new AtomicInteger();
    world.breakLine(() -> calls.incrementAndGet() % 7 == 0);
    for (int minute = 0; minute < 9; minute++) {
      world.advance(Duration.ofMinutes(1));
      try {
        world.jobs().timeouts().step(world.now());
      } catch (RuntimeException _) {
        // The next step goes on.
      }
    }
    world.mendLine();
    pass(Duration.ofSeconds(1));
    for (Job each : jobs) {
      assertThat(job(each).status()).isEqualTo(JobStatus.FAILED);
      assertThat(reason(each)).isEqualTo("it took longer than its total_timeout of 7m");
      assertThat(world.registry().failures(each.id())).hasSizeBetween(1, 2);
    }
    assertThat(deadlines()).isZero();
  }
}

package io.millrace.jobs.registry;

import static io.millrace.jobs.registry.JobsFixture.A;
import static io.millrace.jobs.registry.JobsFixture.B;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Failure.Wish;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.policy.Policy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When jobs are given out, and what follows from a failure, over any store. */
public abstract class JobRetriesContract {
  private static final Jobs.Options OPTIONS = new Jobs.Options(3, 3, 5, Duration.ofSeconds(60));
  private static final JobTypes TYPES =
      JobTypes.of(
          List.of(
              new JobType("plain", null, null),
              new JobType(
                  "again",
                  null,
                  null,
                  Policy.parse("attempts=4 retry_delay=10s,1m retry_jitter=0 retry_except=64"))));

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

  private JobRegistry registry() {
    return world.registry();
  }

  private Job submit(String type, long notBeforeMillis, Policy policy) {
    return world.submit(
        new Submission(type, Priority.BATCH, null, null, notBeforeMillis, policy), "payload");
  }

  private Job submit(String type, String settings) {
    return submit(type, 0, settings.isEmpty() ? Policy.NONE : Policy.parse(settings));
  }

  private long inTenMinutes() {
    return world.now().plusSeconds(600).toEpochMilli();
  }

  private Job job(Job job) {
    return registry().find(job.id().toString()).orElseThrow();
  }

  private List<Assignment> assign(String type, WorkerId worker) {
    return registry().assign(type, List.of(worker));
  }

  private Job fail(Assignment assignment, Wish wish) {
    Failure failure =
        new Failure(assignment.worker(), world.now().toEpochMilli(), "no", null, wish);
    Report report = new Report.Failed(assignment, failure);
    return ((Settled.Accepted) registry().settle(List.of(report)).getFirst()).job();
  }

  private Duration pause(Job job) {
    return registry().delay(job);
  }

  @Test
  void a_job_with_a_time_is_pending_and_not_given_out_before() {
    Job job = submit("plain", inTenMinutes(), Policy.NONE);
    assertThat(job.status()).isEqualTo(JobStatus.PENDING);
    assertThat(pause(job)).isEqualTo(Duration.ofMinutes(10));
    assertThat(job(job)).isEqualTo(job);
    assertThat(assign("plain", A)).isEmpty();
    assertThat(registry().delays()).containsOnlyKeys("plain");
    world.restart();
    world.advance(Duration.ofSeconds(601));
    Assignment assignment = assign("plain", A).getFirst();
    assertThat(job(job).waiting()).isEqualTo(Job.Waiting.NONE);
    assertThat(assignment.job().order()).isEqualTo(job.order());
    assertThat(registry().delays()).isEmpty();
  }

  @Test
  void a_job_without_settings_is_given_out_again_at_once_and_has_the_form_of_old_versions() {
    Job job = submit("plain", "");
    assertThat(pause(fail(assign("plain", A).getFirst(), Wish.NONE))).isZero();
    Assignment again = assign("plain", B).getFirst();
    String body = world.store().document(Keys.job(job.id())).value().orElseThrow().body().utf8();
    assertThat(body)
        .doesNotContain("notBefore")
        .doesNotContain("snoozes")
        .doesNotContain("policy")
        .doesNotContain("\"at\"");
    fail(again, Wish.NONE);
    assertThat(fail(assign("plain", A).getFirst(), Wish.NONE).status()).isEqualTo(JobStatus.FAILED);
  }

  @Test
  void a_failed_job_waits_as_its_type_says_until_it_is_out_of_attempts() {
    Job job = submit("again", "");
    Job once = fail(assign("again", A).getFirst(), Wish.NONE);
    assertThat(once.status()).isEqualTo(JobStatus.PENDING);
    assertThat(pause(once)).isEqualTo(Duration.ofSeconds(10));
    assertThat(assign("again", B)).isEmpty();
    world.advance(Duration.ofSeconds(11));
    // Not to the worker that failed at it.
    assertThat(assign("again", A)).isEmpty();
    assertThat(pause(fail(assign("again", B).getFirst(), Wish.NONE)))
        .isEqualTo(Duration.ofMinutes(1));
    world.advance(Duration.ofSeconds(61));
    fail(assign("again", A).getFirst(), Wish.NONE);
    world.advance(Duration.ofSeconds(61));
    Job last = fail(assign("again", B).getFirst(), Wish.NONE);
    assertThat(last.status()).isEqualTo(JobStatus.FAILED);
    assertThat(last.failures()).isEqualTo(4);
    assertThat(registry().failures(job.id())).hasSize(4);
    assertThat(registry().retry(job.id().toString()).orElseThrow().failures()).isZero();
    assertThat(assign("again", B)).hasSize(1);
  }

  @Test
  void a_job_overrides_its_type_field_by_field() {
    submit("again", "attempts=2");
    assertThat(pause(fail(assign("again", A).getFirst(), Wish.NONE)))
        .isEqualTo(Duration.ofSeconds(10));
    world.advance(Duration.ofSeconds(11));
    assertThat(fail(assign("again", B).getFirst(), Wish.NONE).status()).isEqualTo(JobStatus.FAILED);
    submit("plain", "retry_delay=5s retry_jitter=0");
    assertThat(pause(fail(assign("plain", A).getFirst(), Wish.NONE)))
        .isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void a_failure_says_that_it_is_final_or_when_to_try_again() {
    Job job = submit("again", "");
    Job end = fail(assign("again", A).getFirst(), new Wish("64", null, false));
    assertThat(end.status()).isEqualTo(JobStatus.FAILED);
    assertThat(registry().failures(job.id()).getFirst().wish().code()).isEqualTo("64");
    for (String type : List.of("again", "plain")) {
      submit(type, "");
      Job later = fail(assign(type, A).getFirst(), new Wish("1", Duration.ofHours(2), false));
      assertThat(pause(later)).isEqualTo(Duration.ofHours(2));
    }
  }

  @Test
  void a_snooze_is_no_failure_and_has_a_limit_of_its_own() {
    submit("plain", "snoozes=2");
    Wish snooze = new Wish(null, Duration.ofMinutes(1), true);
    for (int i = 1; i <= 2; i++) {
      Job off = fail(assign("plain", A).getFirst(), snooze);
      assertThat(off.status()).isEqualTo(JobStatus.PENDING);
      assertThat(off.failures()).isZero();
      assertThat(off.waiting().snoozes()).isEqualTo(i);
      assertThat(registry().failures(off.id())).isEmpty();
      assertThat(assign("plain", A)).isEmpty();
      world.advance(Duration.ofSeconds(61));
    }
    Job failed = fail(assign("plain", A).getFirst(), snooze);
    assertThat(failed.failures()).isEqualTo(1);
  }

  @Test
  void a_repeated_report_counts_once() {
    submit("again", "");
    Assignment assignment = assign("again", A).getFirst();
    Job once = fail(assignment, Wish.NONE);
    assertThat(fail(assignment, Wish.NONE)).isEqualTo(once);
  }

  @Test
  void a_waiting_job_can_be_cancelled_and_deleted() {
    Job job = submit("plain", inTenMinutes(), Policy.NONE);
    Job other = submit("plain", inTenMinutes(), Policy.NONE);
    assertThat(registry().cancel(job.id().toString()).orElseThrow().status())
        .isEqualTo(JobStatus.FAILED);
    assertThat(registry().delete(other.id().toString())).isPresent();
    world.advance(Duration.ofSeconds(601));
    assertThat(assign("plain", A)).isEmpty();
    assertThat(registry().delays()).isEqualTo(Map.of());
  }
}

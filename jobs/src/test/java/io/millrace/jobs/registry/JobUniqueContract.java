package io.millrace.jobs.registry;

import static io.millrace.jobs.registry.JobsFixture.A;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.SubmittedBeforeException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs with unique keys, over any store. */
public abstract class JobUniqueContract {
  private static final Jobs.Options OPTIONS = new Jobs.Options(3, 3, 5, Duration.ofSeconds(60));
  private static final JobTypes TYPES =
      JobTypes.of(
          List.of(
              new JobType("plain", null, null),
              new JobType("other", null, null),
              new JobType("fields", null, null, Policy.parse("unique_fields=user,day")),
              new JobType("chain", null, "fields")));

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

  private static Submission order(String type, String settings) {
    Policy policy = settings.isEmpty() ? Policy.NONE : Policy.parse(settings);
    return new Submission(type, Priority.BATCH, null, null, 0, policy);
  }

  private JobId submit(String settings) {
    return world.submit(order("plain", settings), "payload").id();
  }

  private JobId submitFields(String payload) {
    return world.submit(order("fields", ""), payload).id();
  }

  private Assignment assign(String type) {
    return world.assign(type, A);
  }

  private int held() {
    return world.store().documents(DocumentQuery.prefix("jobs.unique", "")).value().size();
  }

  @Test
  void a_second_submission_gets_the_first_job_until_that_has_ended() {
    JobId first = submit("unique=k");
    assertThat(submit("unique=k")).isEqualTo(first);
    assertThat(submit("unique=l")).isNotEqualTo(first);
    assertThat(world.submit(order("other", "unique=k"), "payload").id()).isNotEqualTo(first);
    Assignment assignment = assign("plain");
    assertThat(submit("unique=k")).isEqualTo(first);
    world.restart();
    assertThat(submit("unique=k")).isEqualTo(first);
    world.accepted(world.completed(assignment, "result"));
    JobId second = submit("unique=k");
    assertThat(second).isNotEqualTo(first);
    assertThat(submit("unique=k")).isEqualTo(second);
  }

  private Job submitAs(String request, String settings) {
    JobRegistry registry = world.registry();
    Value payload = new Value.Inline("payload".getBytes(StandardCharsets.UTF_8));
    return registry.submit(registry.newId(), order("plain", settings), payload, request);
  }

  @Test
  void a_repeated_request_makes_no_second_job_whatever_has_become_of_the_first_one() {
    JobId first = submitAs("r1", "").id();
    assertThat(submitAs("r1", "").id()).isEqualTo(first);
    assertThat(submitAs("r2", "").id()).isNotEqualTo(first);
    assertThat(world.submit(order("plain", "unique=r1"), "payload").id()).isNotEqualTo(first);
    world.restart();
    world.accepted(world.completed(assign("plain"), "result"));
    assertThat(submitAs("r1", "").id()).isEqualTo(first);

    assertThat(world.registry().delete(first.toString())).isPresent();
    assertThatThrownBy(() -> submitAs("r1", ""))
        .isInstanceOfSatisfying(
            SubmittedBeforeException.class, gone -> assertThat(gone.job()).isEqualTo(first));

    world.advance(JobRegistry.REQUEST_PERIOD);
    assertThat(submitAs("r1", "").id()).isNotEqualTo(first);
  }

  @Test
  void a_request_that_was_a_duplicate_of_a_unique_job_is_none_of_its_own() {
    JobId first = submitAs("r1", "unique=k").id();
    assertThat(submitAs("r2", "unique=k").id()).isEqualTo(first);
    assertThat(submitAs("r1", "unique=k").id()).isEqualTo(first);
    world.accepted(world.completed(assign("plain"), "result"));
    assertThat(submitAs("r1", "unique=k").id()).isEqualTo(first);
  }

  @Test
  void requests_that_come_together_with_one_id_are_one_job() {
    JobRegistry registry = world.registry();
    Value.Inline payload = new Value.Inline("payload".getBytes(StandardCharsets.UTF_8));
    List<CompletableFuture<Job>> jobs = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      jobs.add(registry.enqueue(registry.newId(), order("plain", ""), payload, "r1"));
    }
    registry.flush();
    assertThat(jobs.stream().map(job -> job.join().id()).distinct()).hasSize(1);
    assertThatThrownBy(() -> submitAs("r".repeat(129), ""))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("1 to 128 characters");
  }

  @Test
  void a_job_without_a_key_has_the_form_of_old_versions() {
    JobId id = submit("");
    assertThat(submit("")).isNotEqualTo(id);
    assertThat(world.store().document(Keys.job(id)).value().orElseThrow().body().utf8())
        .doesNotContain("unique");
    assertThat(held()).isZero();
  }

  @Test
  void jobs_that_are_submitted_together_with_one_key_are_one_job() {
    JobRegistry registry = world.registry();
    List<CompletableFuture<Job>> jobs = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Submission order = order("plain", "unique=" + i % 3);
      jobs.add(registry.enqueue(registry.newId(), order, new Value.Inline(new byte[1])));
    }
    registry.flush();
    assertThat(jobs.stream().map(CompletableFuture::join).map(Job::id).distinct()).hasSize(3);
    assertThat(registry.list(JobRegistry.JobFilter.ALL, null, 100)).hasSize(3);
  }

  @Test
  void the_named_fields_of_the_payload_make_the_key_and_no_others() {
    JobId first = submitFields("{\"user\": \"a\", \"day\": 1, \"x\": 1}");
    assertThat(submitFields("{\"x\": 2, \"day\": 1, \"user\": \"a\"}")).isEqualTo(first);
    assertThat(submitFields("{\"user\": \"a\", \"day\": \"1\"}")).isNotEqualTo(first);
    assertThat(submitFields("{\"user\": \"a\"}")).isNotEqualTo(first);
    assertThat(world.submit(order("fields", "unique=k"), "no object").id()).isNotEqualTo(first);
    for (String payload : List.of("", "17", "{", "{\"user\": \"" + "a".repeat(5_000) + "\"}")) {
      assertThatThrownBy(() -> submitFields(payload))
          .isInstanceOf(InvalidJobException.class)
          .hasMessageContaining("unique_fields")
          .hasMessageContaining("4096 bytes");
    }
  }

  @Test
  void a_key_that_is_held_until_the_start_is_free_when_a_worker_gets_the_job() {
    JobId first = submit("unique=k unique_scope=queued");
    assertThat(submit("unique=k unique_scope=queued")).isEqualTo(first);
    Assignment assignment = assign("plain");
    JobId second = submit("unique=k unique_scope=queued");
    assertThat(second).isNotEqualTo(first);
    // The first one waits again, without its key.
    world.accepted(world.failed(assignment));
    assertThat(world.registry().delete(first.toString())).isPresent();
    assertThat(submit("unique=k")).isEqualTo(second);
  }

  @Test
  void a_key_with_a_period_is_held_as_long_whatever_becomes_of_the_job() {
    String settings = "unique=k unique_period=1h";
    JobId first = submit(settings);
    world.accepted(world.completed(assign("plain"), "result"));
    world.advance(Duration.ofMinutes(59));
    assertThat(submit(settings)).isEqualTo(first);
    world.advance(Duration.ofMinutes(2));
    JobId next = submit(settings);
    assertThat(next).isNotEqualTo(first);
    assertThat(submit(settings)).isEqualTo(next);
    // The first one has no key any more that goes with it.
    assertThat(world.registry().delete(first.toString())).isPresent();
    assertThat(submit(settings)).isEqualTo(next);
    assertThat(world.registry().delete(next.toString())).isPresent();
    assertThat(held()).isZero();
    submit(settings);
    world.advance(Duration.ofHours(2));
    world.sweep();
    assertThat(held()).isZero();
  }

  @Test
  void a_job_keeps_its_key_while_it_waits_for_another_attempt() {
    JobId first = submit("unique=k retry_delay=1m");
    world.accepted(world.failed(assign("plain")));
    assertThat(submit("unique=k")).isEqualTo(first);
  }

  @Test
  void a_job_that_is_cancelled_deleted_or_has_failed_for_good_releases_its_key() {
    JobId cancelled = submit("unique=k");
    world.registry().cancel(cancelled.toString());
    JobId deleted = submit("unique=k");
    assertThat(deleted).isNotEqualTo(cancelled);
    world.registry().delete(deleted.toString());
    JobId failed = submit("unique=k attempts=1");
    assertThat(failed).isNotEqualTo(deleted);
    assertThat(world.accepted(world.failed(assign("plain"))).status()).isEqualTo(JobStatus.FAILED);
    JobId last = submit("unique=k");
    assertThat(last).isNotEqualTo(failed);
    // A job that is tried again by hand has no key any more.
    world.registry().retry(failed.toString());
    assertThat(submit("unique=k")).isEqualTo(last);
    assertThat(held()).isEqualTo(1);
  }

  @Test
  void a_submission_that_is_repeated_after_its_answer_was_lost_is_no_duplicate() {
    JobId id = world.registry().newId();
    Value payload = new Value.Inline("payload".getBytes(StandardCharsets.UTF_8));
    Submission order = order("plain", "unique=k");
    Job job = world.registry().submit(id, order, payload);
    assertThat(world.registry().submit(id, order, payload)).isEqualTo(job);
    world.registry().cancel(id.toString());
    JobId other = submit("unique=k");
    assertThat(world.registry().submit(id, order, payload).id()).isEqualTo(id);
    assertThat(submit("unique=k")).isEqualTo(other);
    assertThatThrownBy(() -> world.registry().submit(other, order("plain", ""), payload))
        .isInstanceOf(InvalidJobException.class);
  }

  @Test
  void a_job_that_another_part_submits_under_its_own_id_is_never_a_duplicate() {
    Value payload = new Value.Inline(new byte[0]);
    JobId first = world.registry().newId();
    JobId second = world.registry().newId();
    for (JobId id : List.of(first, second)) {
      assertThat(world.registry().submitOnce(id, order("plain", "unique=k"), payload, null).id())
          .isEqualTo(id);
    }
    assertThat(held()).isZero();
  }

  @Test
  void jobs_that_are_made_of_results_are_not_looked_at_for_keys() {
    for (int i = 0; i < 2; i++) {
      world.submit(order("chain", ""), "payload");
      world.accepted(world.completed(assign("chain"), "{\"user\": \"a\", \"day\": 1}"));
    }
    assertThat(world.registry().next("fields", 10)).hasSize(2);
    assertThat(held()).isZero();
  }

  @Test
  void of_submissions_to_two_servers_at_the_same_moment_one_creates_the_job() {
    JobRegistry other = world.another(9, TYPES).registry();
    AtomicInteger calls = new AtomicInteger();
    List<JobId> raced = new ArrayList<>();
    // Between what the second one reads and its commit, the first one is committed.
    world.breakLine(() -> {
      if (calls.getAndIncrement() < 30) {
        Submission order = order("plain", "unique=k");
        raced.add(other.submit(other.newId(), order, new Value.Inline(new byte[1])).id());
      }
      return false;
    });
    JobId own = submit("unique=k");
    assertThat(raced).hasSizeGreaterThan(1);
    assertThat(raced.stream().distinct()).containsExactly(own);
  }
}

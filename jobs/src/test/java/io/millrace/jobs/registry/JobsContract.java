package io.millrace.jobs.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.jobs.Batch;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.registry.JobsAccess.Taken;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.work.policy.Policy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What users and workers can rely on, by whatever way they come to the jobs. */
public abstract class JobsContract {
  private static final WorkerId A = new WorkerId("a");
  private static final WorkerId B = new WorkerId("b");
  private static final String LARGE = "x".repeat(10_000);

  private JobsAccess jobs;

  /** Without jobs yet. */
  protected abstract JobsAccess open(Path folder);

  @BeforeEach
  void begin(@TempDir Path folder) {
    jobs = open(folder);
  }

  @AfterEach
  void end() {
    jobs.close();
  }

  private static Submission order(Priority priority, String key) {
    return new Submission("second", priority, key, "about " + key);
  }

  private Job submit(String key) {
    return jobs.submit(order(Priority.BATCH, key), "payload of " + key);
  }

  private Job job(JobId id) {
    return jobs.find(id.toString()).orElseThrow();
  }

  private Taken take(WorkerId worker) {
    return jobs.take("second", worker).orElseThrow();
  }

  private void isRefused(Settled settled) {
    assertThat(settled).isInstanceOf(Settled.Refused.class);
    assertThat(((Settled.Refused) settled).reason()).isNotEmpty();
  }

  @Test
  void a_job_goes_from_pending_over_running_to_done() {
    Job job = submit("one");
    assertThat(job.status()).isEqualTo(JobStatus.PENDING);
    assertThat(job.order()).isEqualTo(order(Priority.BATCH, "one"));
    assertThat(jobs.find("one").map(Job::id)).contains(job.id());
    assertThat(jobs.payload(job.id())).contains("payload of one");
    assertThat(jobs.result(job.id())).isEmpty();

    Taken attempt = take(A);
    assertThat(attempt.job()).isEqualTo(job.id());
    Job running = job(job.id());
    assertThat(running.status()).isEqualTo(JobStatus.RUNNING);
    assertThat(running.hand().worker()).isEqualTo(A);
    assertThat(running.times().started()).isNotNull();

    Job done = ((Settled.Accepted) jobs.complete(attempt, "result")).job();
    assertThat(done.status()).isEqualTo(JobStatus.DONE);
    assertThat(done.times().ended()).isNotNull();
    assertThat(done.content()).isEqualTo(new Job.Content(14, 6L));
    assertThat(jobs.result(job.id())).contains("result");
    assertThat(jobs.take("second", A)).isEmpty();
  }

  @Test
  void payloads_and_results_may_be_large_and_go_with_their_job() {
    Job job = jobs.submit(order(Priority.BATCH, "one"), LARGE);
    assertThat(jobs.payload(job.id())).contains(LARGE);
    assertThat(jobs.complete(take(A), LARGE + "!")).isInstanceOf(Settled.Accepted.class);
    assertThat(jobs.result(job.id())).contains(LARGE + "!");
    assertThat(jobs.blobs()).isEqualTo(2);
    assertThat(jobs.delete("one")).isTrue();
    assertThat(jobs.find("one")).isEmpty();
    assertThat(jobs.payload(job.id())).isEmpty();
    assertThat(jobs.result(job.id())).isEmpty();
    assertThat(jobs.blobs()).isZero();
  }

  @Test
  void immediate_jobs_go_first_and_within_a_priority_the_oldest() {
    List<JobId> expected = new ArrayList<>();
    List<JobId> batch = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      batch.add(submit("b" + i).id());
      expected.add(jobs.submit(order(Priority.IMMEDIATE, "i" + i), "").id());
    }
    expected.addAll(batch);
    List<JobId> taken = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      taken.add(take(A).job());
    }
    assertThat(taken).isEqualTo(expected);
  }

  @Test
  void a_key_is_unique_and_free_again_after_its_job_was_deleted() {
    submit("one");
    assertThatThrownBy(() -> submit("one"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("key one");
    assertThat(jobs.delete("one")).isTrue();
    assertThat(jobs.delete("one")).isFalse();
    submit("one");
  }

  @Test
  void a_key_of_the_longest_kind_is_told_from_others() {
    String one = "\uD55C".repeat(255) + "1";
    String two = "\uD55C".repeat(255) + "2";
    Job first = jobs.submit(new Submission("second", Priority.BATCH, one, null), "");
    assertThat(jobs.find(one).map(Job::id)).contains(first.id());
    assertThat(jobs.find(two)).isEmpty();
    Job unnamed = jobs.submit(new Submission("second", Priority.BATCH, null, null), "");
    assertThat(unnamed.key()).isEqualTo(unnamed.id().toString());
  }

  @Test
  void batches_hold_jobs_of_one_type_and_are_filled_in_order() {
    List<Job> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      for (String type : List.of("first", "second")) {
        all.add(jobs.submit(new Submission(type, Priority.BATCH, null, null), ""));
      }
    }
    assertThat(all).extracting(Job::batch).containsExactly(1L, 2L, 1L, 2L, 1L, 2L, 3L, 4L);
    Batch full = new Batch(1, "first", 3, 3);
    assertThat(jobs.batch(1)).contains(full);
    jobs.delete(all.get(2).id().toString());
    assertThat(jobs.batch(1)).contains(full);
    assertThat(jobs.jobsOf(1))
        .extracting(Job::id)
        .containsExactly(all.get(0).id(), all.get(4).id());
    assertThat(jobs.batches(2, 5, Order.ASCENDING)).extracting(Batch::id).containsExactly(3L, 4L);
    assertThat(jobs.batches(0, 3, Order.DESCENDING))
        .extracting(Batch::id)
        .containsExactly(4L, 3L, 2L);
    assertThat(jobs.batches(2, 3, Order.DESCENDING)).extracting(Batch::id).containsExactly(1L);
    assertThat(jobs.batch(5)).isEmpty();
  }

  @Test
  void a_failed_job_goes_to_another_worker_and_behind_all_others() {
    Job job = submit("one");
    Job next = submit("two");
    assertThat(jobs.fail(take(A), "it broke", "line 1")).isInstanceOf(Settled.Accepted.class);
    assertThat(job(job.id()).status()).isEqualTo(JobStatus.PENDING);
    assertThat(job(job.id()).failures()).isEqualTo(1);
    assertThat(take(B).job()).isEqualTo(next.id());
    assertThat(jobs.take("second", A)).isEmpty();
    assertThat(jobs.fail(take(B), "", "")).isInstanceOf(Settled.Accepted.class);
    assertThat(jobs.take("second", B)).isEmpty();
    assertThat(jobs.fail(take(A), "", "")).isInstanceOf(Settled.Accepted.class);
    assertThat(job(job.id()).status()).isEqualTo(JobStatus.FAILED);
    List<Failure> failures = jobs.failures(job.id());
    assertThat(failures).extracting(Failure::worker).containsExactly(A, B, A);
    assertThat(failures.getFirst().info()).isEqualTo("it broke");
    assertThat(failures.getFirst().logs()).isEqualTo("line 1");
    assertThat(jobs.take("second", new WorkerId("c"))).isEmpty();

    assertThat(jobs.retry("one").map(Job::failures)).contains(0);
    assertThat(jobs.failures(job.id())).hasSize(3);
    assertThat(take(A).job()).isEqualTo(job.id());
    assertThatThrownBy(() -> jobs.retry("one")).isInstanceOf(JobStateException.class);
  }

  @Test
  void who_lost_its_claim_is_refused_and_changes_nothing() {
    Job job = submit("one");
    Taken first = take(A);
    jobs.cancel("one");
    jobs.retry("one");
    isRefused(jobs.complete(first, LARGE));
    Taken second = take(B);
    assertThat(second.token()).isGreaterThan(first.token());
    isRefused(jobs.fail(first, "late", ""));
    isRefused(jobs.complete(first, LARGE));
    assertThat(jobs.complete(second, LARGE + "2")).isInstanceOf(Settled.Accepted.class);
    isRefused(jobs.complete(first, "late"));
    assertThat(jobs.result(job.id())).contains(LARGE + "2");
    jobs.delete("one");
    isRefused(jobs.fail(second, "", ""));
    assertThat(jobs.blobs()).isZero();
  }

  @Test
  void a_report_that_is_repeated_after_its_answer_was_lost_is_accepted_again() {
    Job job = submit("one");
    Taken first = take(A);
    assertThat(jobs.fail(first, "it broke", "")).isInstanceOf(Settled.Accepted.class);
    assertThat(jobs.fail(first, "it broke", "")).isInstanceOf(Settled.Accepted.class);
    isRefused(jobs.complete(first, "x"));
    Taken second = take(B);
    assertThat(jobs.complete(second, LARGE)).isInstanceOf(Settled.Accepted.class);
    assertThat(jobs.complete(second, LARGE)).isInstanceOf(Settled.Accepted.class);
    isRefused(jobs.fail(second, "", ""));
    isRefused(jobs.fail(first, "it broke", ""));
    assertThat(jobs.failures(job.id())).hasSize(1);
    assertThat(jobs.result(job.id())).contains(LARGE);
    assertThat(jobs.blobs()).isEqualTo(1);
  }

  @Test
  void a_result_becomes_a_job_of_the_next_type() {
    for (String content : List.of("small", LARGE)) {
      Job job =
          jobs.submit(
              new Submission("first", Priority.IMMEDIATE, "key" + content.length(), "d"), "");
      jobs.complete(jobs.take("first", A).orElseThrow(), content);
      Job child = job(Objects.requireNonNull(job(job.id()).line().child()));
      assertThat(child.line().parent()).isEqualTo(job.id());
      assertThat(child.order()).isEqualTo(new Submission("second", Priority.IMMEDIATE, null, null));
      assertThat(jobs.batch(child.batch()).orElseThrow().type()).isEqualTo("second");
      assertThat(jobs.result(job.id())).contains(content);
      jobs.delete(job.key());
      assertThat(jobs.payload(child.id())).contains(content);
      Taken last = take(A);
      assertThat(last.job()).isEqualTo(child.id());
      jobs.complete(last, "end");
      assertThat(job(child.id()).line().child()).isNull();
    }
  }

  @Test
  void jobs_are_cancelled_in_any_state_but_an_ended_one() {
    submit("waiting");
    Job cancelled = jobs.cancel("waiting").orElseThrow();
    assertThat(cancelled.status()).isEqualTo(JobStatus.FAILED);
    assertThat(jobs.failures(cancelled.id())).extracting(Failure::worker).containsOnlyNulls();
    assertThatThrownBy(() -> jobs.cancel("waiting")).isInstanceOf(JobStateException.class);
    submit("running");
    Taken attempt = take(A);
    jobs.cancel("running");
    isRefused(jobs.complete(attempt, "x"));
    assertThat(jobs.cancel("nobody")).isEmpty();
    assertThat(jobs.retry("nobody")).isEmpty();
    assertThat(jobs.take("second", A)).isEmpty();
  }

  @Test
  void lists_are_filtered_and_paged() {
    List<JobId> ids = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Priority priority = i % 2 == 0 ? Priority.BATCH : Priority.IMMEDIATE;
      ids.add(jobs.submit(order(priority, "k" + i), "").id());
    }
    assertThat(listed(JobFilter.ALL, null, 10)).isEqualTo(ids);
    assertThat(listed(JobFilter.ALL, ids.get(1), 1)).containsExactly(ids.get(2));
    JobFilter immediate = new JobFilter("second", null, Priority.IMMEDIATE, null, null);
    assertThat(listed(immediate, null, 10)).containsExactly(ids.get(1), ids.get(3));
    take(A);
    JobFilter ofA = new JobFilter(null, JobStatus.RUNNING, null, null, A);
    assertThat(listed(ofA, null, 10)).containsExactly(ids.get(1));
    assertThat(listed(new JobFilter("first", null, null, null, null), null, 5)).isEmpty();
    JobFilter inBatch = new JobFilter(null, null, null, 1L, null);
    assertThat(listed(inBatch, ids.get(0), 10)).containsExactly(ids.get(1), ids.get(2));
    assertThat(newest(JobFilter.ALL, null, 10)).isEqualTo(ids.reversed());
    assertThat(newest(JobFilter.ALL, ids.get(2), 1)).containsExactly(ids.get(1));
    assertThat(newest(immediate, null, 10)).containsExactly(ids.get(3), ids.get(1));
    assertThat(newest(inBatch, null, 10)).containsExactly(ids.get(2), ids.get(1), ids.get(0));
    assertThat(newest(inBatch, ids.get(1), 10)).containsExactly(ids.get(0));
  }

  @Test
  void a_text_is_looked_for_in_guids_keys_and_descriptions() {
    JobId photo = jobs.submit(new Submission("second", Priority.BATCH, "photo-1", null), "").id();
    JobId album =
        jobs.submit(new Submission("second", Priority.BATCH, null, "An Äolian PHOTO"), "").id();
    jobs.submit(new Submission("second", Priority.BATCH, "other", "\"quoted\""), "");

    assertThat(listed(containing("Photo"), null, 10)).containsExactly(photo, album);
    assertThat(listed(containing("äolian"), null, 10)).containsExactly(album);
    assertThat(listed(containing(album.toString().toUpperCase(Locale.ROOT)), null, 10))
        .containsExactly(album);
    assertThat(listed(containing("\"QUOTED"), null, 10)).hasSize(1);
    assertThat(listed(containing("second"), null, 10)).isEmpty();
    assertThat(newest(containing("photo"), null, 1)).containsExactly(album);
  }

  @Test
  void a_job_is_found_by_its_tags() {
    Policy tags = new Policy(Map.of("tags", "eu,nightly"));
    JobId tagged =
        jobs.submit(new Submission("second", Priority.BATCH, null, null, 0, tags), "").id();
    jobs.submit(new Submission("second", Priority.BATCH, null, null), "");

    assertThat(listed(containing("NIGHT"), null, 10)).containsExactly(tagged);
    assertThat(listed(containing("weekly"), null, 10)).isEmpty();
    assertThat(job(tagged).order().policy().tags()).containsExactly("eu", "nightly");
  }

  private static JobFilter containing(String text) {
    return new JobFilter(null, null, null, null, null, text);
  }

  private List<JobId> listed(JobFilter filter, @Nullable JobId after, int limit) {
    return jobs.list(filter, after, limit, Order.ASCENDING).stream().map(Job::id).toList();
  }

  private List<JobId> newest(JobFilter filter, @Nullable JobId after, int limit) {
    return jobs.list(filter, after, limit, Order.DESCENDING).stream().map(Job::id).toList();
  }

  @Test
  void unknown_types_are_refused_in_words_that_help() {
    assertThatThrownBy(() -> jobs.submit(new Submission("third", Priority.BATCH, null, null), ""))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContainingAll("third", "first", "second");
    assertThatThrownBy(() -> jobs.submit(new Submission("", Priority.BATCH, null, null), ""))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContainingAll("first", "second");
  }

  @Test
  void what_users_write_never_becomes_part_of_a_template() {
    Submission tricky = new Submission("second", Priority.BATCH, "{{a}}", "{{b}} {{{c");
    Job job = jobs.submit(tricky, "{{x}}");
    assertThat(job(job.id()).order()).isEqualTo(tricky);
    WorkerId worker = new WorkerId("{{" + job.id() + "}}");
    jobs.fail(jobs.take("second", worker).orElseThrow(), "{{i}}", "{{l}}");
    assertThat(job(job.id()).hand().worker()).isEqualTo(worker);
    Failure failure = jobs.failures(job.id()).getFirst();
    assertThat(failure.worker()).isEqualTo(worker);
    assertThat(failure.info()).isEqualTo("{{i}}");
    assertThat(failure.logs()).isEqualTo("{{l}}");
  }
}

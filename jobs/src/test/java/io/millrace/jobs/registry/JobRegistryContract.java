package io.millrace.jobs.registry;

import static io.millrace.jobs.registry.JobsFixture.A;
import static io.millrace.jobs.registry.JobsFixture.B;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Batch;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.Task;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.DocumentChanges;
import io.millrace.work.DocumentChanges.Changed;
import io.millrace.work.Watch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the registry of jobs does over any store, beyond {@link JobsContract}. */
public abstract class JobRegistryContract {
  private static final Jobs.Options OPTIONS = new Jobs.Options(3, 3, 5, Duration.ofSeconds(60));
  private static final String LARGE = "x".repeat(10_000);

  private StoreFixture store;
  private JobsFixture world;

  /** An empty store. */
  protected abstract StoreFixture open();

  @BeforeEach
  void begin(@TempDir Path folder) {
    store = open();
    world = new JobsFixture(store, folder, JobsFixture.CHAIN, OPTIONS);
  }

  @AfterEach
  void end() {
    store.close();
  }

  private JobRegistry registry() {
    return world.registry();
  }

  private static Submission order(Priority priority, String key) {
    return new Submission("second", priority, key, "about " + key);
  }

  @Test
  void a_job_goes_from_pending_over_running_to_done() {
    Job job = world.submit(order(Priority.BATCH, "one"), "hello");
    assertThat(job.status()).isEqualTo(JobStatus.PENDING);
    assertThat(registry().find("one")).contains(job);
    assertThat(registry().find(job.id().toString())).contains(job);
    assertThat(JobsFixture.text(registry().payload(job))).isEqualTo("hello");
    assertThat(registry().result(job)).isEmpty();

    Assignment assignment = world.assign("second", A);
    assertThat(world.job(job.id())).isEqualTo(assignment.job());
    assertThat(assignment.job().status()).isEqualTo(JobStatus.RUNNING);
    assertThat(assignment.job().hand()).isEqualTo(new Job.Hand(A, assignment.claim()));

    Job done = world.accepted(world.completed(assignment, "result"));
    assertThat(done).isEqualTo(world.job(job.id()));
    assertThat(done.status()).isEqualTo(JobStatus.DONE);
    assertThat(done.hand()).isEqualTo(new Job.Hand(A, null));
    assertThat(JobsFixture.text(registry().result(done))).isEqualTo("result");
    assertThat(registry().assign("second", List.of(A))).isEmpty();
  }

  @Test
  void immediate_jobs_go_first_and_within_a_priority_the_oldest() {
    List<JobId> expected = new ArrayList<>();
    List<JobId> batch = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      batch.add(world.submit(order(Priority.BATCH, "b" + i), "").id());
      expected.add(world.submit(order(Priority.IMMEDIATE, "i" + i), "").id());
    }
    expected.addAll(batch);
    assertThat(registry().next("second", 10)).extracting(Job::id).isEqualTo(expected);
    List<JobId> taken = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      taken.add(world.assign("second", A).job().id());
    }
    assertThat(taken).isEqualTo(expected);
  }

  @Test
  void a_list_has_all_that_its_filter_lets_through() {
    for (int i = 0; i < 6; i++) {
      Priority priority = i % 2 == 0 ? Priority.BATCH : Priority.IMMEDIATE;
      world.submit(order(priority, "\"status\":\"failed\" " + i), "");
      world.submit(new Submission("first", priority, null, null), "");
    }
    world.assign("first", A);
    world.accepted(world.completed(world.assign("second", A), "result"));
    world.accepted(world.completed(world.assign("first", A), "result"));
    registry().cancel(world.submit(order(Priority.BATCH, "gone"), "").id().toString());

    List<Job> all = registry().list(JobFilter.ALL, null, 100);
    assertThat(all).extracting(Job::status).contains(JobStatus.values());
    for (String type : Arrays.asList(null, "first", "second")) {
      for (Priority priority : Arrays.asList(null, Priority.BATCH, Priority.IMMEDIATE)) {
        for (JobStatus status : Arrays.asList(null, JobStatus.PENDING, JobStatus.FAILED)) {
          JobFilter filter = new JobFilter(type, status, priority, null, null);
          assertThat(registry().list(filter, null, 100))
              .isEqualTo(all.stream().filter(filter::matches).toList());
        }
      }
    }
  }

  @Test
  void a_key_is_free_while_no_job_has_it() {
    assertThat(registry().isFree("one")).isTrue();
    world.submit(order(Priority.BATCH, "one"), "");
    assertThat(registry().isFree("one")).isFalse();
    registry().delete("one");
    assertThat(registry().isFree("one")).isTrue();
  }

  @Test
  void a_submission_that_is_repeated_after_its_answer_was_lost_finds_its_job() {
    JobId id = registry().newId();
    var payload = world.keep(JobRegistry.payloadName(id), "x");
    Job job = registry().submit(id, order(Priority.BATCH, "one"), payload);
    assertThat(registry().submit(id, order(Priority.BATCH, "one"), payload)).isEqualTo(job);
    assertThatThrownBy(() -> registry().submit(id, order(Priority.BATCH, "two"), payload))
        .isInstanceOf(InvalidJobException.class);
    assertThat(registry().batch(1).orElseThrow().size()).isEqualTo(1);
  }

  @Test
  void batches_hold_jobs_of_one_type_and_are_filled_in_order() {
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      jobs.add(world.submit("first"));
      jobs.add(world.submit("second"));
    }
    assertThat(jobs).extracting(Job::batch).containsExactly(1L, 2L, 1L, 2L, 1L, 2L, 3L, 4L);
    Batch full = registry().batch(1).orElseThrow();
    assertThat(full).isEqualTo(new Batch(1, "first", 3, 3));
    assertThat(full.isFull()).isTrue();
    registry().delete(jobs.get(2).id().toString());
    assertThat(registry().batch(1)).contains(full);
    assertThat(registry().jobsOf(full)).containsExactly(jobs.get(0), jobs.get(4));
    assertThat(registry().batches(2, 5)).extracting(Batch::id).containsExactly(3L, 4L);
    assertThat(registry().batch(5)).isEmpty();
    JobFilter filter = new JobFilter(null, null, null, 1L, null);
    assertThat(registry().list(filter, jobs.get(0).id(), 10)).containsExactly(jobs.get(4));
  }

  @Test
  void a_batch_lists_its_jobs_in_the_order_of_submission_not_of_their_ids() {
    JobId early = registry().newId();
    Job other = world.submit("second");
    Job late = registry().submit(early, order(Priority.BATCH, "x"), world.keep("x", ""));
    assertThat(registry().jobsOf(registry().batch(1).orElseThrow())).containsExactly(other, late);
  }

  @Test
  void another_process_fills_the_same_batches() {
    JobRegistry other = world.another(9, JobsFixture.CHAIN).registry();
    for (int i = 0; i < 7; i++) {
      JobId id = other.newId();
      Job there =
          other.submit(
              id, new Submission("second", Priority.BATCH, null, null), world.keep("x", ""));
      assertThat(there.batch()).isEqualTo(2 * i / 3 + 1);
      assertThat(world.submit("second").batch()).isEqualTo((2 * i + 1) / 3 + 1);
    }
  }

  @Test
  void a_failed_job_goes_to_another_worker_and_behind_all_others() {
    Job job = world.submit("second");
    Job next = world.submit("second");
    world.accepted(world.failed(world.assign("second", A)));
    assertThat(world.job(job.id()).status()).isEqualTo(JobStatus.PENDING);
    assertThat(world.job(job.id()).failures()).isEqualTo(1);
    assertThat(registry().next("second", 5))
        .extracting(Job::id)
        .containsExactly(next.id(), job.id());
    assertThat(world.assign("second", B).job().id()).isEqualTo(next.id());
    assertThat(registry().assign("second", List.of(A, A))).isEmpty();
    Assignment second = registry().assign("second", List.of(A, B)).getFirst();
    assertThat(second.worker()).isEqualTo(B);
    assertThat(second.job().id()).isEqualTo(job.id());
    world.accepted(world.failed(second));
    assertThat(registry().assign("second", List.of(B))).isEmpty();
    Job failed = world.accepted(world.failed(world.assign("second", A)));
    assertThat(failed.status()).isEqualTo(JobStatus.FAILED);
    assertThat(failed.place().task()).isZero();
    assertThat(registry().failures(job.id())).extracting(Failure::worker).containsExactly(A, B, A);
    assertThat(registry().assign("second", List.of(A, B))).isEmpty();

    Job retried = registry().retry(job.id().toString()).orElseThrow();
    assertThat(retried.failures()).isZero();
    assertThat(registry().failures(job.id())).hasSize(3);
    assertThat(world.assign("second", A).job().id()).isEqualTo(job.id());
    assertThatThrownBy(() -> registry().retry(job.id().toString()))
        .isInstanceOf(JobStateException.class);
  }

  @Test
  void a_job_is_taken_and_put_on_record_by_one_commit() {
    world.submit("second");
    long before = world.store().groups().position().number();
    Assignment assignment = world.assign("second", A);
    assertThat(world.store().groups().position().number()).isEqualTo(before + 1);
    JobClaim claim = assignment.claim();
    assertThat(world.job(assignment.job().id()).hand().claim()).isEqualTo(claim);
    Task active = world.store().task(claim.ref()).value().orElseThrow();
    assertThat(active.token()).isEqualTo(claim.token());
    assertThat(active.owner()).isEqualTo(claim.owner());
  }

  @Test
  void a_returned_job_keeps_its_place() {
    List<JobId> ids = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ids.add(world.submit("second").id());
    }
    List<Assignment> taken = new ArrayList<>(registry().assign("second", List.of(A, A, B)));
    Collections.reverse(taken);
    List<Report> reports = new ArrayList<>();
    taken.forEach(each -> reports.add(new Report.Returned(each, null)));
    assertThat(registry().settle(reports)).allMatch(Settled.Accepted.class::isInstance);
    assertThat(registry().next("second", 9)).extracting(Job::id).isEqualTo(ids);
    assertThat(world.job(ids.getFirst()).failures()).isZero();
  }

  @Test
  void who_lost_its_claim_is_refused_with_a_reason() {
    Job job = world.submit("second");
    Assignment first = world.assign("second", A);
    world.accepted(new Report.Returned(first, null));
    assertThat(((Settled.Refused) world.settle(world.completed(first, LARGE))).reason())
        .contains("taken back and waits");
    Assignment second = world.assign("second", B);
    assertThat(second.claim().token()).isGreaterThan(first.claim().token());
    assertThat(((Settled.Refused) world.settle(world.failed(first))).reason())
        .contains("given out again");
    assertThat(registry().renew(List.of(first, second))).containsExactly(first);
    world.accepted(world.completed(second, LARGE + "2"));
    assertThat(world.settle(world.completed(first, "late"))).isInstanceOf(Settled.Refused.class);
    Job done = world.job(job.id());
    assertThat(JobsFixture.text(registry().result(done))).isEqualTo(LARGE + "2");
    registry().delete(job.id().toString());
    assertThat(((Settled.Refused) world.settle(world.failed(second))).reason()).contains("deleted");
    try (var blobs = world.blobs().list("")) {
      assertThat(blobs).isEmpty();
    }
  }

  @Test
  void a_report_that_is_repeated_after_its_answer_was_lost_is_accepted_again() {
    world.submit("first");
    Assignment one = world.assign("first", A);
    Job failed = world.accepted(world.failed(one));
    assertThat(world.accepted(world.failed(one))).isEqualTo(failed);
    Assignment two = world.assign("first", B);
    Job running = world.accepted(world.failed(one));
    assertThat(running.status()).isEqualTo(JobStatus.RUNNING);
    assertThat(world.settle(world.completed(one, "x"))).isInstanceOf(Settled.Refused.class);
    Job done = world.accepted(world.completed(two, LARGE));
    assertThat(world.accepted(world.completed(two, LARGE))).isEqualTo(done);
    assertThat(registry().list(JobFilter.ALL, null, 10)).hasSize(2);
    assertThat(registry().failures(done.id())).hasSize(1);
    try (var blobs = world.blobs().list("")) {
      assertThat(blobs).hasSize(2);
    }
  }

  @Test
  void reports_are_settled_together_and_each_is_answered() {
    for (int i = 0; i < 5; i++) {
      world.submit("second");
    }
    List<Assignment> all =
        registry().assign("second", Collections.nCopies(5, A)).stream()
            .sorted(
                (one, other) -> Long.compare(one.job().place().task(), other.job().place().task()))
            .toList();
    registry().delete(all.get(1).job().id().toString());
    registry().cancel(all.get(3).job().id().toString());
    List<Report> reports = new ArrayList<>();
    all.forEach(each -> reports.add(world.completed(each, "r")));
    reports.add(world.failed(all.get(0)));
    List<Settled> settled = registry().settle(reports);
    assertThat(settled)
        .extracting(Settled.Accepted.class::isInstance)
        .containsExactly(true, false, true, false, true, false);
    assertThat(world.job(all.get(0).job().id()).status()).isEqualTo(JobStatus.DONE);
  }

  @Test
  void a_result_becomes_a_job_of_the_next_type_in_the_same_commit() {
    for (String content : List.of("small", LARGE)) {
      Job job =
          world.submit(
              new Submission("first", Priority.IMMEDIATE, "key" + content.length(), "d"), "");
      Job done = world.accepted(world.completed(world.assign("first", A), content));
      Job child = world.job(Objects.requireNonNull(done.line().child()));
      assertThat(child.line().parent()).isEqualTo(job.id());
      assertThat(child.order()).isEqualTo(new Submission("second", Priority.IMMEDIATE, null, null));
      assertThat(registry().batch(child.batch()).orElseThrow().type()).isEqualTo("second");
      assertThat(JobsFixture.text(registry().payload(child))).isEqualTo(content);
      registry().delete(job.key());
      assertThat(JobsFixture.text(registry().payload(child))).isEqualTo(content);
      Job last = world.accepted(world.completed(world.assign("second", A), "end"));
      assertThat(last.id()).isEqualTo(child.id());
      assertThat(last.line().child()).isNull();
    }
  }

  @Test
  void jobs_are_cancelled_in_any_state_but_an_ended_one() {
    world.submit(order(Priority.BATCH, "waiting"), "");
    Job cancelled = registry().cancel("waiting").orElseThrow();
    assertThat(cancelled.status()).isEqualTo(JobStatus.FAILED);
    assertThat(registry().failures(cancelled.id())).extracting(Failure::worker).containsOnlyNulls();
    assertThatThrownBy(() -> registry().cancel("waiting")).isInstanceOf(JobStateException.class);
    world.submit(order(Priority.BATCH, "running"), "");
    Assignment assignment = world.assign("second", A);
    registry().cancel("running");
    assertThat(world.settle(world.completed(assignment, "x"))).isInstanceOf(Settled.Refused.class);
    assertThat(registry().renew(List.of(assignment))).containsExactly(assignment);
    assertThat(registry().cancel("nobody")).isEmpty();
    assertThat(registry().assign("second", List.of(A))).isEmpty();
    registry().retry("running");
    assertThat(world.assign("second", A).job().key()).isEqualTo("running");
    assertThat(registry().delete("running")).isPresent();
    assertThat(world.store().groups().value()).isEmpty();
  }

  @Test
  void what_users_write_never_becomes_part_of_a_template() {
    Submission tricky = new Submission("second", Priority.BATCH, "{{a}}", "{{b}} {{{c");
    Job job = world.submit(tricky, "{{x}}");
    assertThat(world.job(job.id()).order()).isEqualTo(tricky);
    WorkerId worker = new WorkerId("{{" + job.id() + "}}");
    Assignment assignment = world.assign("second", worker);
    world.accepted(new Report.Failed(assignment, new Failure(worker, 1, "{{i}}\uD800", "{{l}}")));
    assertThat(world.job(job.id()).hand().worker()).isEqualTo(worker);
    assertThat(registry().failures(job.id()))
        .containsExactly(new Failure(worker, 1, "{{i}}?", "{{l}}"));
  }

  @Test
  void watching_ends_when_the_jobs_have() throws InterruptedException {
    Job one = world.submit("second");
    Job two = world.submit("second");
    List<JobId> both = List.of(one.id(), two.id());
    try (Watch<JobId, Job> watch = world.jobs().watch(both);
        DocumentChanges<JobChange> changes = world.jobs().changes(null)) {
      assertThat(watch.pending()).isEqualTo(2);
      world.accepted(world.completed(world.assign("second", A), "x"));
      registry().delete(two.id().toString());
      while (watch.pending() > 0) {
        watch.await(Duration.ofSeconds(10));
      }
      assertThat(watch.states()).containsEntry(one.id(), world.job(one.id()));
      assertThat(watch.states()).containsEntry(two.id(), null);
      List<Changed<JobChange>> seen = new ArrayList<>();
      while (seen.size() < 3) {
        seen.add(Objects.requireNonNull(changes.next(Duration.ofSeconds(10))));
      }
      assertThat(seen.get(1).events())
          .containsExactly(new JobChange(one.id(), world.job(one.id())));
      assertThat(seen.get(2).events()).containsExactly(new JobChange(two.id(), null));
      try (DocumentChanges<JobChange> again = world.jobs().changes(seen.get(1).position())) {
        assertThat(again.next(Duration.ofSeconds(10))).isEqualTo(seen.get(2));
      }
    }
  }
}

package io.millrace.jobs.registry;

import static io.millrace.jobs.registry.JobsFixture.A;
import static io.millrace.jobs.registry.JobsFixture.B;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobsException.JobsFullException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecoveryTest {
  private final EmbeddedFixture store = new EmbeddedFixture(1);
  private final JobsFixture world;

  RecoveryTest(@TempDir Path folder) {
    world = new JobsFixture(store, folder, JobTypes.NONE, Jobs.Options.DEFAULTS);
  }

  @AfterEach
  void end() {
    store.close();
  }

  private JobRegistry registry() {
    return world.registry();
  }

  private void claimWithoutRecord() {
    store
        .store()
        .claim(
            Claim.of(Owner.client(7), "jobs//batch", Duration.ofSeconds(10))
                .withOrder(Claim.Order.OLDEST));
  }

  @Test
  void a_claim_that_never_came_on_record_ends_by_itself() {
    Job job = world.submit("");
    claimWithoutRecord();
    assertThat(registry().assign("", List.of(A))).isEmpty();
    world.advance(Duration.ofSeconds(10));
    assertThat(world.assign("", A).job().id()).isEqualTo(job.id());
  }

  private void addForeign(String group, String data) {
    store.store().commit(Transaction.by(Owner.client(7)).add(group, Bytes.of(data)).build());
  }

  @Test
  void a_task_that_no_job_server_has_written_is_removed_and_hinders_neither_start_nor_jobs() {
    addForeign("jobs//batch", "not an id");
    store.store().claim(Claim.of(Owner.client(7), "jobs//batch", Duration.ofSeconds(10)));
    addForeign("jobs//batch", "neither");
    Job job = world.submit("");

    assertThat(registry().next("", 9)).extracting(Job::id).containsExactly(job.id());
    assertThat(registry().returnAll()).isZero();
    assertThat(world.assign("", A).job().id()).isEqualTo(job.id());
    assertThat(store.store().group(GroupQuery.all("jobs//batch")).value())
        .extracting(task -> task.data().utf8())
        .containsExactly(job.id().toString());
    assertThat(world.jobs().foreignTasks()).isEqualTo(2);
  }

  @Test
  void what_another_process_has_changed_since_is_looked_up() {
    Job job = world.submit("");
    JobRegistry other = world.another(9, JobTypes.NONE).registry();
    other.cancel(job.key());
    other.retry(job.key());

    Assignment again = world.assign("", A);
    assertThat(again.job().id()).isEqualTo(job.id());
    assertThat(again.job().place().task()).isNotEqualTo(job.place().task());
    other.settle(List.of(new Report.Returned(again, null)));
    Assignment elsewhere = other.assign("", List.of(B)).getFirst();
    other.settle(List.of(new Report.Returned(elsewhere, null)));

    assertThat(world.assign("", A).claim().token()).isGreaterThan(elsewhere.claim().token());
  }

  @Test
  void a_job_whose_claim_ran_out_is_given_to_another_and_its_first_worker_is_refused() {
    world.submit("");
    Assignment first = world.assign("", A);
    world.advance(Duration.ofSeconds(60));
    Assignment second = world.assign("", B);
    assertThat(world.settle(world.completed(first, "x"))).isInstanceOf(Settled.Refused.class);
    assertThat(registry().renew(List.of(first))).containsExactly(first);
    world.accepted(world.completed(second, "y"));
  }

  @Test
  void a_claim_that_ran_out_still_holds_while_nobody_else_has_the_job() {
    world.submit("");
    Assignment assignment = world.assign("", A);
    world.advance(Duration.ofSeconds(70));
    assertThat(registry().renew(List.of(assignment))).isEmpty();
    assertThat(registry().assign("", List.of(B))).isEmpty();
    world.advance(Duration.ofSeconds(70));
    world.accepted(world.completed(assignment, "x"));
  }

  @Test
  void renewed_claims_last_and_others_are_named() {
    world.submit("");
    world.submit("");
    List<Assignment> both = registry().assign("", List.of(A, B));
    world.advance(Duration.ofSeconds(40));
    assertThat(registry().renew(List.of(both.getFirst()))).isEmpty();
    world.advance(Duration.ofSeconds(40));
    Assignment taken = registry().assign("", List.of(A, B)).getFirst();
    assertThat(taken.job().id()).isEqualTo(both.getLast().job().id());
    assertThat(registry().renew(both)).containsExactly(both.getLast());
  }

  @Test
  void a_job_is_deleted_and_cancelled_though_somebody_is_just_claiming_it() {
    Job one = world.submit("");
    claimWithoutRecord();
    assertThat(registry().delete(one.id().toString())).isPresent();
    Job two = world.submit("");
    claimWithoutRecord();
    assertThat(registry().cancel(two.id().toString())).isPresent();
    assertThat(store.store().groups().value()).isEmpty();
  }

  @Test
  void a_kernel_task_without_a_job_is_removed() {
    Job job = world.submit("");
    var document = store.store().document(Keys.job(job.id())).value().orElseThrow();
    store
        .store()
        .commit(Transaction.by(Owner.client(1)).delete(document.key(), document.version()).build());
    assertThat(registry().assign("", List.of(A))).isEmpty();
    assertThat(store.store().groups().value()).isEmpty();
  }

  @Test
  void after_a_start_every_job_that_was_running_is_offered_again_at_once() {
    List<JobId> ids = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      ids.add(world.submit("").id());
    }
    List<Assignment> given = new ArrayList<>();
    given.addAll(registry().assign("", Collections.nCopies(10, A)));
    world.accepted(world.failed(given.getFirst()));
    world.accepted(world.completed(given.get(1), "x"));
    given.addAll(registry().assign("", Collections.nCopies(10, B)));
    claimWithoutRecord();
    world.restart();
    assertThat(registry().returnAll()).isEqualTo(18);
    assertThat(registry().returnAll()).isZero();
    ids.remove(given.getFirst().job().id());
    ids.remove(given.get(1).job().id());
    ids.add(given.getFirst().job().id());
    assertThat(registry().next("", 100)).extracting(Job::id).isEqualTo(ids);
    assertThat(registry().next("", 100)).extracting(Job::status).containsOnly(JobStatus.PENDING);
    assertThat(world.settle(world.completed(given.get(5), "x")))
        .isInstanceOf(Settled.Refused.class);
  }

  @Test
  void a_job_that_is_only_queued_asks_nothing_of_the_store() {
    boolean[] asked = {false};
    world.breakLine(() -> {
      asked[0] = true;
      return false;
    });
    world.advance(Duration.ofMinutes(1));
    asked[0] = false;
    Submission order = new Submission("", Priority.BATCH, null, null);
    CompletableFuture<Job> queued =
        registry().enqueue(registry().newId(), order, new Value.Inline(new byte[1]));
    assertThat(asked[0]).isFalse();
    world.submit("");
    assertThat(queued.join().status()).isEqualTo(JobStatus.PENDING);
  }

  @Test
  void returning_all_goes_on_where_a_crash_cut_it_off() {
    for (int i = 0; i < 40; i++) {
      world.submit("");
    }
    registry().assign("", Collections.nCopies(40, A));
    world.restart();
    int[] calls = {0};
    boolean done = false;
    // To open the registry takes four calls.
    for (int limit = 4; !done; limit++) {
      int most = limit;
      calls[0] = 0;
      world.breakLine(() -> ++calls[0] > most);
      try {
        registry().returnAll();
        done = true;
      } catch (StoreException _) {
        world.mendLine();
        world.restart();
      }
    }
    world.mendLine();
    assertThat(registry().list(new JobFilter(null, JobStatus.PENDING, null, null, null), null, 99))
        .hasSize(40);
  }

  /** Submits jobs until not even a small one has room. */
  private List<JobId> fill() {
    List<JobId> ids = new ArrayList<>();
    for (String payload : List.of("x".repeat(4_000), "")) {
      assertThatThrownBy(
              () -> {
                while (true) {
                  Submission order = new Submission("", Priority.BATCH, null, null);
                  ids.add(world.submit(order, payload).id());
                }
              })
          .isInstanceOf(JobsFullException.class);
    }
    return ids;
  }

  @Test
  void a_full_store_gives_out_no_jobs_until_there_is_room_and_loses_none() {
    List<JobId> waiting = fill();
    List<Assignment> given = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                given.addAll(registry().assign("", Collections.nCopies(10, A)));
              }
            })
        .isInstanceOf(JobsFullException.class)
        .hasMessageContaining("full");
    given.forEach(each -> waiting.remove(each.job().id()));
    assertThat(registry().next("", 1_000)).extracting(Job::id).isEqualTo(waiting);
    registry().delete(waiting.removeLast().toString());
    assertThat(registry().assign("", Collections.nCopies(5, A)))
        .extracting(each -> each.job().id())
        .containsExactlyInAnyOrderElementsOf(waiting.subList(0, 5));
  }

  @Test
  void a_result_that_has_no_room_is_accepted_once_there_is_some() {
    Job job = world.submit("");
    Assignment assignment = world.assign("", A);
    List<JobId> others = fill();
    Report report = world.completed(assignment, "r".repeat(4_000));
    assertThatThrownBy(() -> world.settle(report)).isInstanceOf(JobsFullException.class);
    assertThat(world.job(job.id()).status()).isEqualTo(JobStatus.RUNNING);
    others.subList(0, 2).forEach(id -> registry().delete(id.toString()));
    world.accepted(report);
  }

  /** Has something done just before the registry's call of this number. */
  private void beforeCall(int number, Runnable intrusion) {
    int[] calls = {0};
    world.breakLine(() -> {
      if (++calls[0] == number) {
        intrusion.run();
      }
      return false;
    });
  }

  @Test
  void nobody_gets_a_job_that_was_deleted_just_before_it_is_taken() {
    Job job = world.submit("");
    JobRegistry other = world.another(9, JobTypes.NONE).registry();
    List<Job> deleted = new ArrayList<>();
    // Two groups are read, then the job, and now it is taken.
    beforeCall(4, () -> deleted.add(other.delete(job.id().toString()).orElseThrow()));
    assertThat(registry().assign("", List.of(A))).isEmpty();
    assertThat(deleted).hasSize(1);
    assertThat(store.store().groups().value()).isEmpty();
  }

  @Test
  void nobody_gets_a_job_that_was_deleted_between_its_claim_and_the_record() {
    Job job = world.submit("");
    world.accepted(world.failed(world.assign("", A)));
    JobRegistry other = world.another(9, JobTypes.NONE).registry();
    List<Job> deleted = new ArrayList<>();
    // Two groups are read and all are listed, the failed job is claimed and read: now its record.
    beforeCall(7, () -> deleted.add(other.delete(job.id().toString()).orElseThrow()));
    assertThat(registry().assign("", List.of(B))).isEmpty();
    assertThat(deleted).hasSize(1);
    assertThat(store.store().groups().value()).isEmpty();
  }

  @Test
  void of_the_jobs_that_another_process_takes_meanwhile_nobody_gets_one_twice() {
    for (int i = 0; i < 5; i++) {
      world.submit("");
    }
    JobRegistry other = world.another(9, JobTypes.NONE).registry();
    List<Assignment> all = new ArrayList<>();
    beforeCall(4, () -> all.addAll(other.assign("", List.of(B, B))));
    List<Assignment> own = registry().assign("", Collections.nCopies(5, A));
    assertThat(all).hasSize(2);
    assertThat(own).hasSize(3);
    all.addAll(own);
    assertThat(all).extracting(each -> each.job().id()).doesNotHaveDuplicates();
    all.forEach(each -> world.accepted(world.completed(each, "x")));
  }

  @Test
  void who_is_never_fast_enough_to_take_a_job_gets_one_all_the_same() {
    for (int i = 0; i < 40; i++) {
      world.submit("");
    }
    JobRegistry other = world.another(9, JobTypes.NONE).registry();
    List<Assignment> all = new ArrayList<>();
    world.breakLine(() -> {
      all.addAll(other.assign("", List.of(B)));
      return false;
    });
    Assignment own = world.assign("", A);
    world.mendLine();
    assertThat(all).extracting(each -> each.job().id()).doesNotContain(own.job().id());
    world.accepted(world.completed(own, "x"));
  }

  @Test
  void a_full_store_refuses_jobs_by_a_name_of_its_own_and_takes_them_after_a_delete() {
    List<JobId> ids = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                Submission order = new Submission("", Priority.BATCH, null, null);
                ids.add(world.submit(order, "x".repeat(4_000)).id());
              }
            })
        .isInstanceOf(JobsFullException.class)
        .hasMessageContaining("full");
    ids.subList(0, 20).forEach(id -> registry().delete(id.toString()));
    world.submit("");
  }
}

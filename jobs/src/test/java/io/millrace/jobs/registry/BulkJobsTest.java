package io.millrace.jobs.registry;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.StoreException;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.work.Step;
import io.millrace.work.bulk.BulkAction;
import io.millrace.work.bulk.BulkAction.Starter;
import io.millrace.work.bulk.BulkAction.State;
import io.millrace.work.bulk.BulkActions;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkOrder;
import io.millrace.work.policy.Policy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

final class BulkJobsTest {
  private static final Starter STARTER = new Starter("tester", null, "127.0.0.1");
  private static final JobTypes TYPES =
      JobTypes.of(List.of(new JobType("mail", null, null), new JobType("image", null, null)));

  private EmbeddedFixture store;
  private JobsFixture world;
  private long seed;

  @BeforeEach
  void begin(@TempDir Path folder) {
    store = new EmbeddedFixture(1);
    world =
        new JobsFixture(store, folder, TYPES, new Jobs.Options(100, 1, 5, Duration.ofMinutes(1)));
  }

  @AfterEach
  void end() {
    store.close();
  }

  private BulkActions actions() {
    return BulkActions.in(
        store.store(), List.of(world.jobs().bulk()), world::now, new Random(++seed));
  }

  private static BulkOrder order(String action, String filter, @Nullable Set<String> reach) {
    ObjectNode json = (ObjectNode) JsonMapper.shared().readTree(filter.replace('\'', '"'));
    return new BulkOrder("jobs", action, json, Map.of(), reach);
  }

  private BulkAction run(String action, String filter) {
    return run(order(action, filter, null));
  }

  private BulkAction run(BulkOrder order) {
    BulkActions actions = actions();
    String id = actions.start(order, order.filter().isEmpty(), STARTER).id();
    Step runner = actions.runner((_, _) -> {});
    for (int i = 0; i < 1_000; i++) {
      runner.step(world.now());
      BulkAction action = actions.find(id).orElseThrow();
      if (action.state() != State.RUNNING) {
        return action;
      }
      world.advance(Duration.ofMillis(1));
    }
    throw new AssertionError("it does not end: " + actions.find(id));
  }

  private List<Job> submit(String type, int count) {
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      jobs.add(world.submit(type));
    }
    return jobs;
  }

  private List<JobStatus> statuses(List<Job> jobs) {
    return jobs.stream().map(job -> world.job(job.id()).status()).toList();
  }

  private void fail(Job job) {
    Assignment assignment = world.assign(job.type(), JobsFixture.A);
    assertThat(assignment.job().id()).isEqualTo(job.id());
    assertThat(world.settle(world.failed(assignment))).isInstanceOf(Settled.class);
  }

  @Test
  void failed_jobs_of_a_type_are_retried() {
    Job failed = submit("mail", 1).getFirst();
    fail(failed);
    Job other = submit("image", 1).getFirst();
    fail(other);
    List<Job> pending = submit("mail", 2);
    assertThat(world.job(failed.id()).status()).isEqualTo(JobStatus.FAILED);

    BulkAction done = run("retry", "{'type': 'mail', 'ended': {'$gt': {'$ago': '1h'}}}");

    assertThat(done.total()).isEqualTo(1);
    assertThat(done.progress().done()).isEqualTo(1);
    assertThat(world.job(failed.id()).status()).isEqualTo(JobStatus.PENDING);
    assertThat(world.job(failed.id()).failures()).isZero();
    assertThat(world.job(other.id()).status()).isEqualTo(JobStatus.FAILED);
    assertThat(statuses(pending)).containsOnly(JobStatus.PENDING);
    assertThat(
            world.registry().assign("mail", List.of(JobsFixture.B, JobsFixture.B, JobsFixture.B)))
        .hasSize(3);
  }

  @Test
  void jobs_are_chosen_by_one_of_their_tags_or_by_having_none() {
    Policy tags = new Policy(Map.of("tags", "eu,nightly"));
    Job tagged =
        world.submit(new Submission("mail", Priority.BATCH, null, null, 0, tags), "payload");
    Job other = submit("mail", 1).getFirst();

    assertThat(run("cancel", "{'tags': 'nightly'}").progress().done()).isEqualTo(1);
    assertThat(statuses(List.of(tagged))).containsOnly(JobStatus.FAILED);
    assertThat(run("cancel", "{'tags': {'$exists': false}}").progress().done()).isEqualTo(1);
    assertThat(statuses(List.of(other))).containsOnly(JobStatus.FAILED);
  }

  @Test
  void pending_and_running_jobs_are_cancelled_and_their_results_come_too_late() {
    List<Job> jobs = submit("mail", 30);
    Assignment running = world.assign("mail", JobsFixture.A);

    assertThat(run("cancel", "{'type': 'mail'}").progress().done()).isEqualTo(30);

    assertThat(statuses(jobs)).containsOnly(JobStatus.FAILED);
    assertThat(world.registry().renew(List.of(running))).hasSize(1);
    assertThat(world.registry().assign("mail", List.of(JobsFixture.B))).isEmpty();
  }

  @Test
  void deleted_jobs_leave_nothing_and_running_ones_stay() {
    submit("mail", 10);
    world.submit("image");
    Assignment running = world.assign("mail", JobsFixture.A);

    assertThat(run("delete", "{}").progress().done()).isEqualTo(10);

    assertThat(world.registry().list(JobFilter.ALL, null, 10))
        .extracting(Job::id)
        .containsExactly(running.job().id());
    assertThat(world.settle(world.completed(running, "done"))).isInstanceOf(Settled.class);
    assertThat(run("delete", "{'status': 'done'}").progress().done()).isEqualTo(1);
    assertThat(world.registry().list(JobFilter.ALL, null, 10)).isEmpty();
  }

  @Test
  void a_limited_reach_keeps_to_its_types() {
    submit("mail", 3);
    List<Job> images = submit("image", 3);
    assertThat(run(order("cancel", "{}", Set.of("ma"))).progress().done()).isEqualTo(3);
    assertThat(statuses(images)).containsOnly(JobStatus.PENDING);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          block  | {'type': 'mail'}            | the action for jobs must be one of retry, cancel, delete, move
          move   | {'type': 'mail'}            | the action move needs the option type
          cancel | {'queue': 'mail'}           | jobs have no field queue
          cancel | {'status': 'dead'}          | status is pending, running, done or failed
          cancel | {'priority': 7}             | -
          cancel | {'submitted': {'$lt': 'x'}} | a time must be
          """)
  void what_is_wrong_is_refused(String action, String filter, String message) {
    if (message.equals("-")) {
      assertThat(run(action, filter).total()).isZero();
      return;
    }
    assertThatThrownBy(() -> run(action, filter))
        .isInstanceOf(InvalidBulkException.class)
        .hasMessageContaining(message);
  }

  private static BulkOrder move(String filter, String to, @Nullable Set<String> reach) {
    BulkOrder order = order("move", filter, reach);
    return order.with(Map.of("type", to));
  }

  private Submission submission(String type, Map<String, String> settings) {
    return new Submission(type, Priority.BATCH, null, null, 0, Policy.NONE.with(settings));
  }

  private Job submit(Submission submission) {
    return world
        .registry()
        .submit(
            world.registry().newId(),
            submission,
            new Value.Inline("{\"user\": \"ann\"}".getBytes(UTF_8)),
            null);
  }

  @Test
  void jobs_are_moved_to_a_type_in_which_their_submission_decides_their_place() {
    Job first = world.submit("mail");
    world.advance(Duration.ofSeconds(1));
    Job there = world.submit("image");
    world.advance(Duration.ofSeconds(1));
    Job failed = world.submit("mail");
    Assignment running = world.assign("mail", JobsFixture.A);
    assertThat(running.job().id()).isEqualTo(first.id());
    fail(failed);

    BulkAction done = run(move("{'type': {'$in': ['mail', 'image']}}", "image", null));

    assertThat(done.total()).isEqualTo(2);
    assertThat(done.progress().done()).isEqualTo(1);
    assertThat(done.progress().skipped()).isEqualTo(Map.of("a worker has it", 1L));
    assertThat(world.job(failed.id()).type()).isEqualTo("image");
    assertThat(world.job(failed.id()).status()).isEqualTo(JobStatus.FAILED);
    assertThat(world.job(failed.id()).batch()).isEqualTo(failed.batch());
    assertThat(world.registry().failures(failed.id())).hasSize(1);
    assertThat(world.settle(world.failed(running))).isInstanceOf(Settled.class);
    assertThat(run("retry", "{'type': 'mail'}").progress().done()).isEqualTo(1);
    assertThat(run(move("{'type': 'mail'}", "image", null)).progress().done()).isEqualTo(1);
    assertThat(world.registry().assign("mail", List.of(JobsFixture.B))).isEmpty();
    assertThat(
            world.registry().assign("image", List.of(JobsFixture.B, JobsFixture.B, JobsFixture.B)))
        .extracting(assignment -> assignment.job().id())
        .containsExactly(first.id(), there.id());
  }

  @Test
  void a_moved_job_keeps_its_delay_and_its_unique_key_unless_that_is_taken() {
    Job other = submit(submission("image", Map.of("unique", "taken")));
    Job taken = submit(submission("mail", Map.of("unique", "taken")));
    Job moved =
        submit(
            new Submission(
                "mail",
                Priority.BATCH,
                null,
                null,
                world.now().plus(Duration.ofHours(1)).toEpochMilli(),
                Policy.NONE.with(Map.of("unique", "report"))));

    BulkAction done = run(move("{'type': 'mail'}", "image", null));

    assertThat(done.progress().skipped())
        .isEqualTo(Map.of("its unique key is taken among the jobs of the other type", 1L));
    assertThat(world.job(taken.id()).type()).isEqualTo("mail");
    assertThat(submit(submission("image", Map.of("unique", "report"))).id()).isEqualTo(moved.id());
    Job free = submit(submission("mail", Map.of("unique", "report")));
    assertThat(free.id()).isNotEqualTo(moved.id());
    List<WorkerId> workers = List.of(JobsFixture.A, JobsFixture.A, JobsFixture.A);
    List<Assignment> first = world.registry().assign("image", workers);
    assertThat(first).extracting(assignment -> assignment.job().id()).containsExactly(other.id());
    assertThat(world.settle(world.completed(first.getFirst(), "done"))).isInstanceOf(Settled.class);
    world.advance(Duration.ofHours(2));
    assertThat(world.registry().assign("image", workers))
        .extracting(assignment -> assignment.job().id())
        .containsExactly(moved.id());
    // The key of the new type goes with the job, and the one of the other job stays.
    assertThat(run("cancel", "{'id': '" + moved.id() + "'}").progress().done()).isEqualTo(1);
    assertThat(submit(submission("image", Map.of("unique", "report"))).id())
        .isNotEqualTo(moved.id());
    assertThat(submit(submission("mail", Map.of("unique", "report"))).id()).isEqualTo(free.id());
  }

  @Test
  void a_moved_job_gets_the_key_and_the_limits_of_its_new_type() {
    JobType limited =
        new JobType(
            "image",
            null,
            null,
            Policy.NONE.with(Map.of("key_field", "user", "key_running", "1", "attempts", "2")));
    JobTypes types = JobTypes.of(List.of(new JobType("mail", null, null), limited));
    world =
        new JobsFixture(
            store, world.blobs(), types, new Jobs.Options(100, 1, 5, Duration.ofMinutes(1)));
    Job ann = submit(submission("mail", Map.of()));
    Job own = submit(submission("mail", Map.of("key", "bob")));
    Job odd = world.submit("mail");

    BulkAction done = run(move("{}", "image", null));

    assertThat(done.progress().done()).isEqualTo(2);
    assertThat(done.progress().examples())
        .extracting(skip -> skip.id())
        .containsExactly(odd.id().toString());
    assertThat(done.progress().examples().getFirst().reason())
        .contains("key_field needs a payload");
    assertThat(world.job(ann.id()).order().policy().key()).hasValue("ann");
    assertThat(world.job(own.id()).order().policy().key()).hasValue("bob");
    var _ = submit(submission("image", Map.of()));
    List<Assignment> taken =
        world.registry().assign("image", List.of(JobsFixture.A, JobsFixture.A, JobsFixture.A));
    assertThat(taken)
        .extracting(assignment -> assignment.job().id())
        .containsExactlyInAnyOrder(ann.id(), own.id());
    // A failed job that waits for its second attempt stays away from the worker that it failed on.
    taken.forEach(each -> assertThat(world.settle(world.failed(each))).isInstanceOf(Settled.class));
    assertThat(run(move("{'id': '" + own.id() + "'}", "mail", null)).progress().done())
        .isEqualTo(1);
    assertThat(world.job(own.id()).failures()).isEqualTo(1);
    WorkerId a = JobsFixture.A;
    assertThat(world.job(own.id()).status()).isEqualTo(JobStatus.PENDING);
    world.advance(Duration.ofSeconds(30));
    assertThat(world.registry().assign("mail", List.of(a, a, a)))
        .extracting(assignment -> assignment.job().id())
        .containsExactly(odd.id());
    assertThat(world.assign("mail", JobsFixture.B).job().id()).isEqualTo(own.id());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {}                                       | cow   | ""    | there is no job type cow; known are mail, image
          {'type': 'mail'}                         | mail  | ""    | the jobs that the filter chooses are of type mail
          {'$and': [{'type': {'$in': ['mail']}}]}  | mail  | ""    | the jobs that the filter chooses are of type mail
          {'type': {'$eq': 'mail'}}                | mail  | ""    | the jobs that the filter chooses are of type mail
          {'type': 'mail'}                         | image | ma    | there is no job type image
          """)
  void a_move_to_no_other_type_is_refused(String filter, String to, String reach, String message) {
    assertThatThrownBy(() -> run(move(filter, to, reach.isEmpty() ? null : Set.of(reach))))
        .isInstanceOf(InvalidBulkException.class)
        .hasMessage(message);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void each_job_is_moved_or_assigned_while_workers_take_jobs_of_both_types(long drawn) {
    seed = drawn;
    Random random = new Random(seed);
    List<Job> jobs = submit("mail", 20 + random.nextInt(200));
    BulkActions actions = actions();
    String id = actions.start(move("{'type': 'mail'}", "image", null), false, STARTER).id();
    Map<JobId, List<String>> taken = new HashMap<>();
    List<Assignment> assigned = new ArrayList<>();
    AtomicBoolean begun = new AtomicBoolean();
    world.breakLine(() -> {
      if (begun.get() && random.nextInt(3) == 0) {
        String type = random.nextBoolean() ? "mail" : "image";
        WorkerId worker = new WorkerId("w" + random.nextInt(5));
        assigned.addAll(
            world.another(random.nextLong(), TYPES).registry().assign(type, List.of(worker)));
      }
      return begun.get() && random.nextInt(20) == 0;
    });
    Step runner =
        BulkActions.in(store.store(), List.of(world.jobs().bulk()), world::now, new Random(seed))
            .runner((_, _) -> {});
    begun.set(true);
    for (int i = 0; actions.find(id).orElseThrow().state() == State.RUNNING; i++) {
      try {
        runner.step(world.now());
      } catch (StoreException _) {
        // The line broke.
      }
      world.advance(Duration.ofMillis(1));
      assertThat(i).as("seed %s", seed).isLessThan(10_000);
    }
    begun.set(false);
    world.mendLine();
    for (String type : List.of("mail", "image")) {
      List<Assignment> some;
      do {
        some = world.registry().assign(type, List.of(JobsFixture.A, JobsFixture.B));
        assigned.addAll(some);
      } while (!some.isEmpty());
    }
    for (Assignment each : assigned) {
      taken.computeIfAbsent(each.job().id(), _ -> new ArrayList<>()).add(each.job().type());
      assertThat(world.settle(world.completed(each, "done"))).isInstanceOf(Settled.class);
    }
    assertThat(taken.keySet())
        .as("seed %s", seed)
        .containsExactlyInAnyOrderElementsOf(jobs.stream().map(Job::id).toList());
    assertThat(taken.values()).as("seed %s", seed).allMatch(types -> types.size() == 1);
    BulkAction done = actions.find(id).orElseThrow();
    assertThat(done.progress().done())
        .as("seed %s", seed)
        .isEqualTo(jobs.stream().filter(job -> world.job(job.id()).type().equals("image")).count());
    assertThat(done.progress().done() + done.progress().skips()).isEqualTo(jobs.size());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void each_job_is_changed_once_while_workers_take_and_fail_jobs(long drawn) {
    seed = drawn;
    Random random = new Random(seed);
    List<Job> jobs = submit("mail", 20 + random.nextInt(200));
    BulkActions actions = actions();
    String id = actions.start(order("cancel", "{'type': 'mail'}", null), false, STARTER).id();
    List<Assignment> taken = new ArrayList<>();
    AtomicBoolean begun = new AtomicBoolean();
    world.breakLine(() -> {
      if (!begun.get()) {
        return false;
      }
      if (random.nextInt(4) == 0) {
        taken.addAll(
            world
                .another(random.nextLong(), TYPES)
                .registry()
                .assign("mail", List.of(new WorkerId("w" + random.nextInt(5)))));
      }
      if (!taken.isEmpty() && random.nextInt(4) == 0) {
        Assignment done = taken.removeLast();
        var _ =
            world.another(random.nextLong(), TYPES).registry().settle(List.of(world.failed(done)));
      }
      return random.nextInt(20) == 0;
    });
    Step runner =
        BulkActions.in(store.store(), List.of(world.jobs().bulk()), world::now, new Random(seed))
            .runner((_, _) -> {});
    begun.set(true);
    for (int i = 0; actions.find(id).orElseThrow().state() == State.RUNNING; i++) {
      try {
        runner.step(world.now());
      } catch (StoreException _) {
        // The line broke.
      }
      world.advance(Duration.ofMillis(1));
      assertThat(i).as("seed %s", seed).isLessThan(10_000);
    }
    world.mendLine();
    BulkAction done = actions.find(id).orElseThrow();
    assertThat(statuses(jobs)).as("seed %s", seed).containsOnly(JobStatus.FAILED);
    long cancelled =
        jobs.stream()
            .filter(job -> world.registry().failures(job.id()).size() == 1)
            .filter(
                job -> "cancelled".equals(world.registry().failures(job.id()).getFirst().info()))
            .count();
    assertThat(done.progress().done()).as("seed %s", seed).isEqualTo(cancelled);
  }
}

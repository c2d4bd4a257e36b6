package io.millrace.queues.registry;

import static io.millrace.queues.registry.QueuesFixture.LEASE;
import static io.millrace.queues.registry.QueuesFixture.policy;
import static io.millrace.queues.registry.QueuesFixture.report;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Status;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.policy.EndedAttempt;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.RetryPolicy.Failed;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When tasks run, and what follows from a failure, over any store; see {@link QueuesContract}. */
public abstract class RetriesContract {
  private StoreFixture store;
  private QueuesFixture world;

  /** For subclasses. */
  protected RetriesContract() {}

  /** An empty open store; called once for each test. */
  protected abstract StoreFixture open();

  @BeforeEach
  void begin(@TempDir Path folder) {
    store = open();
    world = new QueuesFixture(store, folder);
  }

  @AfterEach
  void end() {
    store.close();
  }

  private RunRegistry runs() {
    return world.queues().runs();
  }

  /** Starts the only task that can be claimed. */
  private Run start(Queue queue) {
    return startAll(queue).getFirst();
  }

  private List<Run> startAll(Queue queue) {
    NodeRecord node = world.queues().nodes().find("n1").orElseGet(() -> world.node("n1"));
    return runs().claim(node, queue, 1, LEASE).stream()
        .map(run -> runs().start(run, "7 mark", LEASE))
        .toList();
  }

  private static Report failed(String stderr, @Nullable String code, @Nullable Duration delay) {
    return new Report(
        Status.FAILED,
        new TaskOutput(Output.none(), new Output.Text(stderr)),
        List.of(),
        code == null ? null : "exit code " + code,
        new RetryWish.IfFailed(new Failed(code, delay)));
  }

  private static Terms terms(String... settings) {
    return new Terms(Status.QUEUED, Duration.ZERO, null, policy(settings));
  }

  private static Terms after(Duration delay) {
    return new Terms(Status.QUEUED, delay, null, Policy.NONE);
  }

  @Test
  void a_task_with_a_delay_is_queued_and_not_claimed_before() {
    Queue queue = world.queue("demo", 5);
    ObjectId id = world.submit(queue, after(Duration.ofMinutes(10)));
    QueueTask task = world.task(id);
    assertThat(task.status()).isEqualTo(Status.QUEUED);
    assertThat(task.progress().retries().notBeforeMillis()).isEqualTo(task.ctimeMillis() + 600_000);
    assertThat(startAll(queue)).isEmpty();
    assertThat(world.queues().queues().counts(List.of(queue)).getFirst().queued()).isEqualTo(1);
    world.advance(Duration.ofMinutes(9));
    assertThat(startAll(queue)).isEmpty();
    world.restart();
    world.advance(Duration.ofMinutes(2));
    assertThat(start(queue).task()).isEqualTo(id);
    assertThat(world.task(id).progress().retries().notBeforeMillis()).isZero();
  }

  @Test
  void a_task_runs_at_a_time_and_at_once_if_that_is_past() {
    Queue queue = world.queue("demo", 5);
    Instant now = world.clock().instant();
    ObjectId later =
        world.submit(queue, new Terms(-2, Duration.ZERO, now.plusSeconds(60), Policy.NONE));
    ObjectId past =
        world.submit(queue, new Terms(-2, Duration.ZERO, now.minusSeconds(60), Policy.NONE));
    assertThat(start(queue).task()).isEqualTo(past);
    assertThat(startAll(queue)).isEmpty();
    world.advance(Duration.ofSeconds(61));
    assertThat(start(queue).task()).isEqualTo(later);
  }

  @Test
  void a_delayed_task_can_be_held_back_and_queued_at_once() {
    Queue queue = world.queue("demo", 5);
    ObjectId id = world.submit(queue, after(Duration.ofDays(1)));
    world.queues().tasks().hold(id, Status.BLOCKED, "");
    assertThat(world.queues().tasks().requeue(id)).isPresent();
    assertThat(start(queue).task()).isEqualTo(id);
  }

  @Test
  void a_time_that_makes_no_sense_is_refused() {
    Queue queue = world.queue("demo", 5);
    Instant far = world.clock().instant().plus(Duration.ofDays(100_000));
    assertThatThrownBy(() -> world.submit(queue, new Terms(-2, Duration.ZERO, far, Policy.NONE)))
        .isInstanceOfSatisfying(
            InvalidRequestException.class, e -> assertThat(e.field()).isEqualTo("at"));
    assertThatThrownBy(() -> new Terms(-7, Duration.ofSeconds(1), null, Policy.NONE))
        .isInstanceOfSatisfying(
            InvalidRequestException.class, e -> assertThat(e.field()).isEqualTo("delay"));
    assertThatThrownBy(() -> new Terms(-2, Duration.ofSeconds(1), far, Policy.NONE))
        .isInstanceOfSatisfying(
            InvalidRequestException.class, e -> assertThat(e.field()).isEqualTo("at"));
  }

  @Test
  void a_failed_task_is_tried_again_after_a_pause_until_it_is_out_of_attempts() {
    Queue queue =
        world.queue("demo", 1, "attempts", "3", "retry_delay", "10s,60s", "retry_jitter", "0");
    ObjectId id = world.submit(queue, Terms.DEFAULTS);
    QueueTask once = runs().finish(start(queue), failed("no", "3", null));
    assertThat(once.status()).isEqualTo(Status.QUEUED);
    assertThat(once.progress().reason()).isEqualTo("attempt 1 of 3 failed: exit code 3");
    assertThat(once.progress().node()).isNull();
    assertThat(once.progress().attempt()).isEqualTo(1);
    assertThat(once.output().stderr()).isEqualTo(new Output.Text("no"));
    assertThat(once.progress().delay()).isEqualTo(Duration.ofSeconds(10));
    world.advance(Duration.ofSeconds(9));
    assertThat(startAll(queue)).isEmpty();
    world.advance(Duration.ofSeconds(2));
    Run second = start(queue);
    assertThat(world.task(id).output()).isEqualTo(TaskOutput.NONE);
    assertThat(world.task(id).progress().attempt()).isEqualTo(2);
    assertThat(runs().finish(second, failed("no", "3", null)).progress().delay())
        .isEqualTo(Duration.ofSeconds(60));
    world.advance(Duration.ofSeconds(61));
    QueueTask last = runs().finish(start(queue), failed("never", "4", null));
    assertThat(last.status()).isEqualTo(Status.FAILED);
    assertThat(last.progress().reason()).isEqualTo("exit code 4");
    assertThat(last.progress().attempt()).isEqualTo(3);
    assertThat(world.queues().tasks().requeue(id).orElseThrow().progress().attempt()).isZero();
    assertThat(start(queue).task()).isEqualTo(id);
  }

  @Test
  void what_a_task_sets_takes_precedence_over_its_queue() {
    Queue queue = world.queue("demo", 5, "attempts", "9", "retry_except", "64");
    world.submit(queue, terms("attempts", "1"));
    assertThat(runs().finish(start(queue), failed("", "3", null)).status())
        .isEqualTo(Status.FAILED);
    world.submit(queue, terms("retry_delay", "7s", "retry_jitter", "0"));
    QueueTask again = runs().finish(start(queue), failed("", "3", null));
    assertThat(again.progress().delay()).isEqualTo(Duration.ofSeconds(7));
    Queue plain = world.queue("plain", 5);
    world.submit(plain, terms("attempts", "2"));
    assertThat(runs().finish(start(plain), failed("", null, null)).status())
        .isEqualTo(Status.QUEUED);
  }

  @Test
  void a_failure_says_that_it_is_final_or_when_to_try_again() {
    Queue queue = world.queue("demo", 5, "attempts", "9", "retry_except", "64");
    world.submit(queue, Terms.DEFAULTS);
    assertThat(runs().finish(start(queue), failed("", "64", null)).status())
        .isEqualTo(Status.FAILED);
    world.submit(queue, Terms.DEFAULTS);
    assertThat(runs().finish(start(queue), failed("", "1", Duration.ofHours(3))).progress().delay())
        .isEqualTo(Duration.ofHours(3));
    world.submit(queue, Terms.DEFAULTS);
    assertThat(runs().finish(start(queue), report(17, "")).status()).isEqualTo(17);
  }

  @Test
  void snoozes_and_orphans_are_no_attempts_and_have_limits_of_their_own() {
    Queue.Settings settings =
        new Queue.Settings(
            1, Queue.Sort.FIFO, List.of(), List.of(), 1, policy("attempts", "2", "snoozes", "1"));
    Queue queue = world.queues().queues().create("demo", "shell", settings);
    world.submit(queue, Terms.DEFAULTS);
    Report snooze =
        new Report(
            Status.FAILED,
            TaskOutput.NONE,
            List.of(),
            null,
            new RetryWish.Snooze(Duration.ofMinutes(1)));
    QueueTask snoozing = runs().finish(start(queue), snooze);
    assertThat(snoozing.status()).isEqualTo(Status.QUEUED);
    assertThat(snoozing.progress().reason()).isEqualTo("it snoozed for 1m");
    assertThat(snoozing.progress().attempt()).isZero();
    world.advance(Duration.ofSeconds(61));
    QueueTask orphan = runs().finish(start(queue), report(Status.ORPHANED, ""));
    assertThat(orphan.status()).isEqualTo(Status.QUEUED);
    assertThat(orphan.progress().attempt()).isZero();
    assertThat(runs().finish(start(queue), failed("", "1", Duration.ZERO)).status())
        .isEqualTo(Status.QUEUED);
    QueueTask end = runs().finish(start(queue), snooze);
    assertThat(end.status()).isEqualTo(Status.FAILED);
    assertThat(end.progress().reason()).isEqualTo("it snoozed more than 1 times");
    assertThat(end.progress().retries().snoozed()).isEqualTo(1);
  }

  @Test
  void attempts_that_did_not_succeed_are_remembered_and_so_is_what_was_queued_again_by_hand() {
    Queue queue = world.queue("demo", 1, "attempts", "3", "retry_delay", "1ms");
    ObjectId id = world.submit(queue, Terms.DEFAULTS);
    Run first = start(queue);
    long started = world.clock().millis();
    world.advance(Duration.ofSeconds(2));
    RetryWish timeout = new RetryWish.IfFailed(new Failed("timeout", Duration.ZERO));
    runs()
        .finish(
            first,
            new Report(2, TaskOutput.NONE, List.of(), "it hung", timeout, "connecting to a host"));
    world.restart();
    Run second = start(queue);
    assertThat(world.task(id).progress().retries().startedMillis())
        .isEqualTo(world.clock().millis());
    runs().finish(second, report(Status.SUCCEEDED, ""));
    assertThat(world.queues().tasks().requeue(id)).isPresent();
    runs().finish(start(queue), report(Status.TERMINATED, ""));

    List<EndedAttempt> ended = world.task(id).progress().retries().ended();
    assertThat(ended)
        .extracting(EndedAttempt::end)
        .containsExactly("failed", "succeeded", "terminated");
    assertThat(ended.getFirst())
        .isEqualTo(
            new EndedAttempt(
                "n1",
                started,
                started + 2_000,
                "failed",
                "timeout",
                "it hung",
                "connecting to a host"));
  }

  @Test
  void only_the_last_attempts_are_remembered() {
    Queue queue = world.queue("demo", 1, "attempts", "20", "retry_delay", "1ms");
    ObjectId id = world.submit(queue, Terms.DEFAULTS);
    for (int attempt = 1; attempt <= 20; attempt++) {
      runs().finish(start(queue), failed("", String.valueOf(attempt), Duration.ZERO));
    }
    QueueTask task = world.task(id);
    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(task.progress().retries().ended())
        .extracting(EndedAttempt::code)
        .containsExactly("11", "12", "13", "14", "15", "16", "17", "18", "19", "20");
  }

  @Test
  void a_repeated_report_of_a_failure_counts_once() {
    Queue queue = world.queue("demo", 1, "attempts", "5");
    world.submit(queue, Terms.DEFAULTS);
    NodeRecord node = world.node("n1");
    Run run = runs().claim(node, queue, 1, LEASE).getFirst();
    Run.Started started = runs().begin(run, "7 mark", LEASE);
    QueueTask once = runs().finish(started, failed("x", "1", null));
    assertThat(runs().finish(started, failed("x", "1", null))).isEqualTo(once);
    assertThat(once.progress().retries().failed()).isEqualTo(1);
  }

  @Test
  void a_task_that_is_to_be_terminated_is_not_tried_again() {
    Queue queue = world.queue("demo", 1, "attempts", "5");
    ObjectId id = world.submit(queue, Terms.DEFAULTS);
    Run run = start(queue);
    world.queues().tasks().terminate(id);
    assertThat(runs().finish(run, failed("", "143", null)).status()).isEqualTo(Status.FAILED);
  }

  @Test
  void tasks_and_queues_without_settings_have_the_form_of_old_versions() {
    Queue queue = world.queue("demo", 1);
    ObjectId id = world.submit(queue, 1).getFirst();
    runs().finish(start(queue), report(Status.FAILED, ""));
    String task = world.store().document(Keys.task(id)).value().orElseThrow().body().utf8();
    assertThat(task)
        .doesNotContain("policy")
        .doesNotContain("\"failed\":")
        .doesNotContain("not_before");
    String stored =
        world.store().document(Keys.queue(queue.id())).value().orElseThrow().body().utf8();
    assertThat(stored).doesNotContain("policy");
  }
}

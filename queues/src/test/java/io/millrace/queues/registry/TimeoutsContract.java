package io.millrace.queues.registry;

import static io.millrace.queues.registry.QueuesFixture.LEASE;
import static io.millrace.queues.registry.QueuesFixture.policy;
import static io.millrace.queues.registry.QueuesFixture.report;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Run.Started;
import io.millrace.queues.Status;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.policy.RetryPolicy.Failed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks that may wait, or take, for a limited time, over any store; see {@link QueuesContract}. */
public abstract class TimeoutsContract {
  private StoreFixture store;
  private QueuesFixture world;

  /** For subclasses. */
  protected TimeoutsContract() {}

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

  private ObjectId submit(Queue queue, Duration delay, String... settings) {
    return world.submit(queue, new Terms(Status.QUEUED, delay, null, policy(settings)));
  }

  private ObjectId submit(Queue queue, String... settings) {
    return submit(queue, Duration.ZERO, settings);
  }

  private List<Run> claim(Queue queue) {
    NodeRecord node = world.queues().nodes().find("n1").orElseGet(() -> world.node("n1"));
    return world.queues().runs().claim(node, queue, 1, LEASE);
  }

  private Started start(Queue queue) {
    return world.queues().runs().begin(claim(queue).getFirst(), "7 mark", LEASE);
  }

  private QueueTask fail(Started started, String reason) {
    Report failed =
        new Report(
            Status.FAILED,
            report(Status.FAILED, "").output(),
            List.of(),
            reason,
            new RetryWish.IfFailed(new Failed(Run.TIMEOUT_CODE, null)));
    return world.queues().runs().finish(started, failed);
  }

  private void sweep() {
    world.sweeper(Sweeper.Settings.DEFAULTS).step(world.clock().instant());
  }

  /** Moves the clock and sweeps. */
  private void pass(Duration time) {
    world.advance(time);
    sweep();
  }

  private QueueTask task(ObjectId id) {
    return world.task(id);
  }

  private int deadlines() {
    return world.store().documents(DocumentQuery.prefix("queues.deadlines", "")).value().size();
  }

  @Test
  void a_task_that_waits_too_long_has_failed_and_says_why() {
    Queue queue = world.queue("demo", 5);
    ObjectId id = submit(queue, "wait_timeout", "5m");
    ObjectId other = submit(queue);
    pass(Duration.ofMinutes(4));
    assertThat(task(id).status()).isEqualTo(Status.QUEUED);
    world.restart();
    pass(Duration.ofSeconds(61));
    assertThat(task(id).status()).isEqualTo(Status.FAILED);
    assertThat(task(id).progress().reason())
        .isEqualTo("it waited longer than its wait_timeout of 5m");
    assertThat(task(id).progress().attempt()).isZero();
    assertThat(claim(queue)).extracting(Run::task).containsExactly(other);
    assertThat(claim(queue)).isEmpty();
    assertThat(deadlines()).isZero();
  }

  @Test
  void a_task_without_limits_has_the_form_of_old_versions() {
    Queue queue = world.queue("demo", 5);
    ObjectId id = submit(queue, "attempts", "2");
    String body = world.store().document(Keys.task(id)).value().orElseThrow().body().utf8();
    assertThat(body).doesNotContain("deadlines");
    assertThat(deadlines()).isZero();
  }

  @Test
  void a_wait_begins_when_the_task_can_run_and_anew_before_each_attempt() {
    Queue queue =
        world.queue(
            "demo",
            5,
            "wait_timeout",
            "5m",
            "attempts",
            "3",
            "retry_delay",
            "10m",
            "retry_jitter",
            "0");
    ObjectId id = submit(queue, Duration.ofMinutes(30));
    pass(Duration.ofMinutes(34));
    assertThat(task(id).status()).isEqualTo(Status.QUEUED);
    Started started = start(queue);
    assertThat(deadlines()).isZero();
    pass(Duration.ofMinutes(4));
    assertThat(fail(started, "no").status()).isEqualTo(Status.QUEUED);
    pass(Duration.ofMinutes(14));
    assertThat(task(id).status()).isEqualTo(Status.QUEUED);
    pass(Duration.ofSeconds(61));
    assertThat(task(id).status()).isEqualTo(Status.FAILED);
    assertThat(task(id).progress().retries().failed()).isEqualTo(1);
    // By hand it gets all its time again.
    world.queues().tasks().requeue(id);
    pass(Duration.ofMinutes(4));
    assertThat(task(id).status()).isEqualTo(Status.QUEUED);
    pass(Duration.ofSeconds(61));
    assertThat(task(id).status()).isEqualTo(Status.FAILED);
  }

  @Test
  void a_claim_that_is_given_back_does_not_begin_the_wait_anew() {
    Queue queue = world.queue("demo", 5, "wait_timeout", "5m");
    ObjectId id = submit(queue);
    world.advance(Duration.ofMinutes(4));
    Run run = claim(queue).getFirst();
    pass(Duration.ofMinutes(2));
    // A runner is about to start it.
    assertThat(task(id).status()).isEqualTo(Status.CLAIMED);
    assertThat(world.queues().runs().giveBack(run)).isTrue();
    sweep();
    assertThat(task(id).status()).isEqualTo(Status.FAILED);
    assertThat(deadlines()).isZero();
  }

  @Test
  void the_whole_counts_over_all_attempts_and_pauses() {
    Queue queue =
        world.queue(
            "demo",
            5,
            "total_timeout",
            "30m",
            "attempts",
            "9",
            "retry_delay",
            "20m",
            "retry_jitter",
            "0",
            "timeout",
            "1h");
    ObjectId id = submit(queue);
    world.advance(Duration.ofMinutes(15));
    Started started = start(queue);
    // An attempt gets what is left.
    assertThat(started.run().timeoutMillis()).isEqualTo(Duration.ofMinutes(15).toMillis());
    pass(Duration.ofMinutes(1));
    assertThat(fail(started, "no").status()).isEqualTo(Status.QUEUED);
    pass(Duration.ofMinutes(13));
    assertThat(task(id).status()).isEqualTo(Status.QUEUED);
    pass(Duration.ofSeconds(61));
    assertThat(task(id).status()).isEqualTo(Status.FAILED);
    assertThat(task(id).progress().reason())
        .isEqualTo("it took longer than its total_timeout of 30m");
    assertThat(task(id).progress().retries().failed()).isEqualTo(1);
    assertThat(deadlines()).isZero();
  }

  @Test
  void an_attempt_that_ends_after_the_whole_is_over_time_is_not_repeated() {
    Queue queue = world.queue("demo", 5, "total_timeout", "3m", "attempts", "9");
    ObjectId cut = submit(queue);
    Started first = start(queue);
    ObjectId late = submit(queue);
    Started second = start(queue);
    ObjectId done = submit(queue);
    Started third = start(queue);
    pass(Duration.ofMinutes(4));
    assertThat(task(cut).status()).isEqualTo(Status.RUNNING);
    fail(first, "it took longer than its timeout of 3m");
    assertThat(task(cut).status()).isEqualTo(Status.FAILED);
    assertThat(task(cut).progress().reason())
        .isEqualTo("it took longer than its total_timeout of 3m");
    world
        .queues()
        .runs()
        .finish(second, new Report(2, second.task().output(), List.of(), "exit 1"));
    assertThat(task(late).progress().reason())
        .isEqualTo("exit 1; it took longer than its total_timeout of 3m");
    // What has succeeded has succeeded.
    world.queues().runs().finish(third, report(Status.SUCCEEDED, ""));
    assertThat(task(done).status()).isEqualTo(Status.SUCCEEDED);
    assertThat(deadlines()).isZero();
  }

  @Test
  void a_blocked_task_does_not_wait_but_is_over_time_as_a_whole() {
    Queue queue = world.queue("demo", 5, "wait_timeout", "5m", "total_timeout", "1h");
    ObjectId blocked = submit(queue);
    ObjectId cancelled = submit(queue);
    world.queues().tasks().hold(blocked, Status.BLOCKED, "");
    world.queues().tasks().hold(cancelled, Status.CANCELLED, "");
    assertThat(deadlines()).isEqualTo(1);
    pass(Duration.ofMinutes(59));
    assertThat(task(blocked).status()).isEqualTo(Status.BLOCKED);
    pass(Duration.ofMinutes(2));
    assertThat(task(blocked).status()).isEqualTo(Status.FAILED);
    assertThat(task(cancelled).status()).isEqualTo(Status.CANCELLED);
    world.queues().tasks().requeue(blocked);
    pass(Duration.ofMinutes(4));
    assertThat(task(blocked).status()).isEqualTo(Status.QUEUED);
  }

  @Test
  void many_that_are_over_time_together_all_fail() {
    Queue queue = world.queue("demo", 5, "wait_timeout", "1s");
    for (int i = 0; i < 30; i++) {
      submit(queue);
    }
    // One of them is claimed just now, and nobody knows of it yet.
    Run run = claim(queue).getFirst();
    pass(Duration.ofSeconds(2));
    var counts = world.queues().queues().counts(List.of(queue)).getFirst();
    assertThat(counts.completed()).isEqualTo(29);
    assertThat(counts.running()).isEqualTo(1);
    assertThat(world.queues().runs().giveBack(run)).isTrue();
    sweep();
    assertThat(world.queues().queues().counts(List.of(queue)).getFirst().completed()).isEqualTo(30);
    assertThat(deadlines()).isZero();
  }
}

package io.millrace.queues.registry;

import static io.millrace.queues.registry.QueuesFixture.LEASE;
import static io.millrace.queues.registry.QueuesFixture.params;
import static io.millrace.queues.registry.QueuesFixture.policy;
import static io.millrace.queues.registry.QueuesFixture.report;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.Json;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Change;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.store.Owner;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.Explanation;
import io.millrace.work.Explanation.Reason;
import io.millrace.work.policy.SharedLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Why queue tasks wait. */
final class TaskExplainerTest {
  private final StoreFixture store = new EmbeddedFixture(1);
  private QueuesFixture world;

  @BeforeEach
  void begin(@TempDir Path folder) {
    world = new QueuesFixture(store, folder);
  }

  @AfterEach
  void end() {
    store.close();
  }

  private ObjectId submit(Queue queue, String... settings) {
    return submitIn(queue, Duration.ZERO, settings);
  }

  private ObjectId submitIn(Queue queue, Duration delay, String... settings) {
    Terms terms = new Terms(Status.QUEUED, delay, null, policy(settings));
    return world.submit(queue, terms, params("x")).getFirst().id();
  }

  private Explanation explain(ObjectId task) {
    return explain(task, _ -> true);
  }

  private Explanation explain(ObjectId task, Predicate<ObjectId> visible) {
    return world
        .queues()
        .explain(
            world.task(task),
            visible,
            usage -> Map.of("task", world.queues().sharing(usage, visible)));
  }

  private List<String> codes(ObjectId task) {
    Explanation explanation = explain(task);
    assertThat(explanation.waiting()).isTrue();
    return explanation.reasons().stream().map(Reason::code).toList();
  }

  private Reason only(ObjectId task) {
    return assertThat(explain(task).reasons()).singleElement().actual();
  }

  private Run claimOne(NodeRecord node, Queue queue) {
    List<Run> runs = world.queues().runs().claim(node, queue, 1, LEASE);
    return assertThat(runs).singleElement().actual();
  }

  private Queue change(Queue queue, UnaryOperator<Queue.Settings> settings) {
    return world
        .queues()
        .queues()
        .change(
            queue.id(), old -> new Change(old.name(), old.plugin(), settings.apply(old.settings())))
        .orElseThrow();
  }

  @Test
  void a_task_that_nothing_keeps_from_starting_waits_for_its_turn() {
    world.node("n1");
    Reason reason = only(submit(world.queue("demo", 1)));
    assertThat(reason.code()).isEqualTo("turn");
    assertThat(reason.message()).isEqualTo("it waits for its turn in queue demo");
  }

  @Test
  void a_delayed_task_says_when_it_is_to_start() {
    world.node("n1");
    ObjectId task = submitIn(world.queue("demo", 1), Duration.ofHours(1));
    assertThat(only(task).code()).isEqualTo("scheduled");
    assertThat(only(task).message()).contains("2026-01-02T04:04:05Z");
    world.advance(Duration.ofHours(1));
    world.queues().nodes().find("n1").ifPresent(this::refresh);
    assertThat(codes(task)).containsExactly("turn");
  }

  private void refresh(NodeRecord node) {
    NodeIdentity presence = Objects.requireNonNull(node.presence());
    assertThat(world.queues().nodes().refresh(node, presence)).isPresent();
  }

  @Test
  void a_task_that_waits_for_its_next_attempt_says_how_the_last_one_ended() {
    NodeRecord node = world.node("n1");
    Queue queue =
        world.queue("demo", 1, "attempts", "2", "retry_delay", "10m", "retry_jitter", "0");
    ObjectId task = submit(queue);
    Run run = world.queues().runs().start(claimOne(node, queue), "7 mark", LEASE);
    world.queues().runs().finish(run, report(Status.FAILED, ""));
    assertThat(only(task).code()).isEqualTo("scheduled");
    assertThat(only(task).message()).contains("2026-01-02T03:14:05Z");
  }

  @Test
  void all_lasting_reasons_are_given_and_the_most_decisive_one_first() {
    Queue queue = world.queue("demo", 0);
    assertThat(codes(submit(queue))).containsExactly("no_threads", "no_node");
    assertThat(codes(submitIn(queue, Duration.ofHours(1))))
        .containsExactly("no_threads", "no_node", "scheduled");
  }

  @Test
  void a_halted_queue_says_why() {
    world.node("n1");
    Queue queue = world.queue("demo", 3);
    ObjectId task = submit(queue);
    world.queues().queues().suspend(queue.id(), "n1", "no such command", _ -> false);
    List<Reason> reasons = explain(task).reasons();
    assertThat(reasons).extracting(Reason::code).containsExactly("queue_halted", "no_node");
    assertThat(reasons.get(0).message()).contains("2026-01-02", "n1", "no such command");
    assertThat(reasons.get(1).message()).contains("n1 cannot start runners", "no such command");
  }

  @Test
  void a_task_of_a_deleted_queue_says_so() {
    Queue queue = world.queue("demo", 3);
    ObjectId task = submit(queue);
    world.queues().queues().delete(queue.id());
    assertThat(codes(task)).containsExactly("queue_deleted");
  }

  @Test
  void without_a_node_that_takes_its_tasks_each_node_says_why() {
    Queue queue = world.queue("demo", 3);
    ObjectId task = submit(queue);
    assertThat(only(task).message()).isEqualTo("no execution node is running");
    NodeIdentity other = new NodeIdentity("i", "host", "1 mark", List.of("other"));
    world.queues().nodes().take("n1", null, other);
    world.node("n2");
    world.queues().nodes().limit("n2", 0);
    world.node("n3");
    world.queues().config().set("n3", Json.object().put("ignorequeues", "demo"));
    world.node("n4");
    change(queue, settings -> new Queue.Settings(3, settings.sort(), List.of(), List.of("n4"), 0));
    assertThat(only(task).code()).isEqualTo("no_node");
    assertThat(only(task).related().ids()).containsExactly("n1", "n2", "n3", "n4");
    assertThat(only(task).message())
        .contains(
            "n1 does not have plugin shell",
            "n2 has maxthreads 0",
            "n3 does not serve the queue",
            "n4 is not one of the queue's nodes");
    world.node("n5");
    assertThat(codes(task)).containsExactly("turn");
  }

  @Test
  void nodes_that_are_dead_or_have_left_do_not_count() {
    NodeRecord node = world.node("n1");
    ObjectId task = submit(world.queue("demo", 3));
    world.advance(NodeRecord.SILENCE);
    assertThat(codes(task)).containsExactly("no_node");
    world.queues().nodes().find("n1").ifPresent(this::refresh);
    assertThat(codes(task)).containsExactly("turn");
    world.queues().nodes().leave(node, "instance-n1");
    assertThat(only(task).message()).isEqualTo("no execution node is running");
  }

  @Test
  void busy_nodes_are_named_while_their_maxthreads_are_reached() {
    world.node("n1");
    world.queues().nodes().limit("n1", 1);
    NodeRecord node = world.queues().nodes().find("n1").orElseThrow();
    Queue other = world.queue("other", 3);
    submit(other);
    claimOne(node, other);
    ObjectId task = submit(world.queue("demo", 3));
    assertThat(only(task).code()).isEqualTo("nodes_busy");
    assertThat(only(task).related().ids()).containsExactly("n1");
    world.node("n2");
    assertThat(codes(task)).containsExactly("turn");
  }

  @Test
  void the_tasks_that_take_all_threads_are_named() {
    NodeRecord node = world.node("n1");
    Queue queue = world.queue("demo", 1);
    ObjectId first = submit(queue);
    ObjectId second = submit(queue);
    claimOne(node, queue);
    assertThat(only(second).code()).isEqualTo("threads");
    assertThat(only(second).message()).contains("queue demo", "1 of 1");
    assertThat(only(second).related().ids()).containsExactly(first.hex());
    Explanation running = explain(first);
    assertThat(running.waiting()).isFalse();
    assertThat(running.reasons()).extracting(Reason::code).containsExactly("running");
    assertThat(running.reasons().getFirst().message()).contains("n1");
  }

  @Test
  void the_tasks_that_hold_a_key_are_named_and_others_are_not() {
    NodeRecord node = world.node("n1");
    Queue queue = world.queue("demo", 9, "key_running", "1");
    submit(queue, "key", "bob");
    claimOne(node, queue);
    ObjectId first = submit(queue, "key", "ann");
    claimOne(node, queue);
    ObjectId second = submit(queue, "key", "ann");
    assertThat(only(second).code()).isEqualTo("limit");
    assertThat(only(second).message()).contains("key ann", "1 of 1");
    assertThat(only(second).related().ids()).containsExactly(first.hex());
  }

  @Test
  void the_tasks_that_use_up_a_shared_limit_are_named_unless_the_caller_may_not_see_them() {
    SharedLimits shared = new SharedLimits(world.store(), Owner.client(5));
    shared.put("api", SharedLimits.limit("starts", 2, ""));
    NodeRecord node = world.node("n1");
    Queue one = world.queue("one", 9, "limits", "api");
    Queue two = world.queue("two", 9, "limits", "api");
    Queue free = world.queue("free", 9);
    submit(free);
    claimOne(node, free);
    ObjectId first = submit(one);
    claimOne(node, one);
    ObjectId second = submit(two);
    claimOne(node, two);
    ObjectId task = submit(two);
    assertThat(only(task).code()).isEqualTo("limit");
    assertThat(only(task).message()).contains("shared limit api", "2 of 2");
    assertThat(only(task).related().ids()).containsExactlyInAnyOrder(first.hex(), second.hex());
    assertThat(only(task).related().more()).isZero();
    Reason limited = explain(task, queue -> queue.equals(two.id())).reasons().getFirst();
    assertThat(limited.related().ids()).containsExactly(second.hex());
    assertThat(limited.related().more()).isOne();
    assertThat(limited.message()).doesNotContain(first.hex());
  }

  @Test
  void a_limit_on_starts_is_given_while_it_is_reached() {
    NodeRecord node = world.node("n1");
    Queue queue = world.queue("demo", 9, "starts", "1/1h", "key_starts", "5/1m");
    submit(queue);
    claimOne(node, queue);
    ObjectId task = submit(queue);
    assertThat(only(task).code()).isEqualTo("limit");
    assertThat(only(task).message())
        .isEqualTo("too many tasks have started lately: at most 1/1h for queue demo");
    assertThat(only(submit(queue, "key", "ann")).message()).contains("at most 5/1m for key ann");
    world.advance(Duration.ofHours(1));
    world.queues().nodes().find("n1").ifPresent(this::refresh);
    assertThat(codes(task)).containsExactly("turn");
    assertThat(world.queues().runs().claim(node, queue, 1, LEASE)).hasSize(1);
  }

  @Test
  void several_limits_that_are_reached_are_all_given() {
    SharedLimits shared = new SharedLimits(world.store(), Owner.client(5));
    shared.put("api", SharedLimits.limit("starts", 1, ""));
    NodeRecord node = world.node("n1");
    Queue queue = world.queue("demo", 1, "limits", "api", "key_running", "1");
    submit(queue, "key", "ann");
    claimOne(node, queue);
    assertThat(codes(submit(queue, "key", "ann"))).containsExactly("threads", "limit", "limit");
  }

  @Test
  void no_more_than_twenty_tasks_are_named() {
    NodeRecord node = world.node("n1");
    Queue queue = world.queue("demo", 25);
    for (int i = 0; i < 25; i++) {
      submit(queue);
      claimOne(node, queue);
    }
    Reason reason = only(submit(queue));
    assertThat(reason.related().ids()).hasSize(20);
    assertThat(reason.related().more()).isEqualTo(5);
  }

  @Test
  void tasks_that_are_held_back_or_have_ended_say_so() {
    NodeRecord node = world.node("n1");
    Queue queue = world.queue("demo", 1);
    ObjectId task = submit(queue);
    world.queues().tasks().hold(task, Status.BLOCKED, "by hand");
    assertThat(codes(task)).containsExactly("held");
    assertThat(only(task).message()).contains("blocked", "by hand");
    world.queues().tasks().requeue(task);
    Run run = world.queues().runs().start(claimOne(node, queue), "7 mark", LEASE);
    world.queues().runs().finish(run, report(Status.FAILED, ""));
    Explanation ended = explain(task);
    assertThat(ended.waiting()).isFalse();
    assertThat(ended.status()).isEqualTo("failed");
    assertThat(ended.reasons()).extracting(Reason::code).containsExactly("ended");
    ObjectId cancelled = submit(queue);
    world.queues().tasks().hold(cancelled, Status.CANCELLED, "by hand");
    assertThat(explain(cancelled).waiting()).isFalse();
    assertThat(only(cancelled).message()).contains("cancelled", "requeued");
  }
}

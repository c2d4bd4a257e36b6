package io.millrace.queues.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.list;

import io.millrace.queues.ConfigRegistry;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Presence;
import io.millrace.queues.Queue;
import io.millrace.queues.Run;
import io.millrace.queues.RunRegistry;
import io.millrace.queues.Status;
import io.millrace.queues.node.NodeWorld.FakeMachine;
import io.millrace.queues.node.NodeWorld.RecordingRunners;
import io.millrace.queues.node.NodeWorld.Started;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

class ExecutionNodeTest {
  private static final Duration SOON = Duration.ofMillis(100);

  private final NodeWorld world = new NodeWorld();

  @AfterEach
  void close() {
    world.close();
  }

  private NodeRecord record(String name) {
    return world.queues.nodes().find(name).orElseThrow();
  }

  @Test
  void a_new_task_is_handed_to_a_runner_at_once() {
    Queue queue = world.queue("q", 2);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    List<ObjectId> tasks = world.submit(queue, 3);
    world.run(Duration.ofMillis(5));
    assertThat(node.runners.begun.keySet()).containsExactly(tasks.get(0), tasks.get(1));
    world.finish(node, node.runners.run(tasks.get(0)));
    world.run(Duration.ofMillis(5));
    assertThat(node.runners.begun.keySet()).containsExactly(tasks.get(1), tasks.get(2));
  }

  @Test
  void maxthreads_holds_over_all_queues_and_counts_surviving_runs() {
    Queue one = world.queue("one", 9);
    Queue two = world.queue("two", 9);
    Started first = world.start("n", NodeWorld.machine("a"));
    world.queues.nodes().limit("n", 3);
    world.run(Duration.ofSeconds(2));
    world.submit(one, 9);
    world.submit(two, 9);
    world.run(SOON);
    assertThat(first.runners.begun).hasSize(3);
    first.pause(true);

    RecordingRunners survivors = new RecordingRunners();
    survivors.survivors.addAll(first.runners.begun.keySet());
    Started second = world.start("n", new FakeMachine("a", "a/2 node", Set.of()), survivors);
    world.run(Duration.ofSeconds(1));
    assertThat(second.node.isServing()).isTrue();
    assertThat(second.runners.begun).isEmpty();
    Run survivor = first.runners.begun.values().iterator().next();
    world.finish(second, survivor);
    world.run(SOON);
    assertThat(second.runners.begun).hasSize(1);
  }

  @Test
  void a_node_with_maxthreads_0_runs_nothing_and_null_is_no_limit() {
    Queue queue = world.queue("q", 40);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.queues.nodes().limit("n", 0);
    world.run(Duration.ofSeconds(2));
    world.submit(queue, 40);
    world.run(Duration.ofSeconds(2));
    assertThat(node.runners.begun).isEmpty();
    world.queues.nodes().limit("n", null);
    world.run(Duration.ofSeconds(2));
    assertThat(node.runners.begun).hasSize(40);
  }

  @Test
  void a_running_node_heeds_a_configuration_that_changes_its_own_before_that_of_all() {
    Queue queue = world.queue("q", 9);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(Duration.ofSeconds(2));
    configure("n", "ignorequeues", List.of("q"));
    world.run(Duration.ofSeconds(2));
    world.submit(queue, 1);
    world.run(Duration.ofSeconds(2));
    assertThat(node.runners.begun).isEmpty();

    configure(ConfigRegistry.ALL, "ignorequeues", List.of());
    world.run(Duration.ofSeconds(2));
    assertThat(node.runners.begun).isEmpty();

    configure("n", "ignorequeues", null);
    world.run(Duration.ofSeconds(2));
    assertThat(node.runners.begun).hasSize(1);

    configure(ConfigRegistry.ALL, "ignorequeues", List.of("q"));
    configure("n", "ignorequeues", List.of());
    world.run(Duration.ofSeconds(2));
    world.submit(queue, 1);
    world.run(Duration.ofSeconds(2));
    assertThat(node.runners.begun).hasSize(2);
  }

  private void configure(String scope, String field, @Nullable List<String> names) {
    ObjectNode changes = JsonNodeFactory.instance.objectNode();
    if (names == null) {
      changes.putNull(field);
    } else {
      names.forEach(changes.putArray(field)::add);
    }
    world.queues.config().set(scope, changes);
  }

  @Test
  void a_queue_with_many_tasks_does_not_starve_another() {
    Queue large = world.queue("large", 50);
    Queue small = world.queue("small", 50);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.queues.nodes().limit("n", 4);
    world.run(Duration.ofSeconds(2));
    world.submit(large, 50);
    List<ObjectId> few = world.submit(small, 2);
    world.run(SOON);
    assertThat(node.runners.begun.keySet()).hasSize(4).contains(few.getFirst());
  }

  @Test
  void a_second_node_of_a_name_waits_until_the_first_is_silent_for_five_seconds() {
    Started first = world.start("n", NodeWorld.machine("a"));
    Started second = world.start("n", NodeWorld.machine("b"));
    world.run(Duration.ofSeconds(10));
    assertThat(first.node.isServing()).isTrue();
    assertThat(second.node.isServing()).isFalse();
    first.pause(true);
    world.run(Duration.ofSeconds(4));
    assertThat(second.node.isServing()).isFalse();
    world.run(Duration.ofSeconds(4));
    assertThat(second.node.isServing()).isTrue();
    first.pause(false);
    world.run(Duration.ofSeconds(2));
    assertThat(first.ended).isTrue();
    assertThat(first.node.hasLostName()).isTrue();
    assertThat(first.runners.closed).isTrue();
    assertThat(record("n").isHeldBy("n1")).isTrue();
  }

  @Test
  void nobody_loses_a_name_because_the_store_was_away() {
    Started first = world.start("n", NodeWorld.machine("a"));
    Started second = world.start("n", NodeWorld.machine("b"));
    world.run(Duration.ofSeconds(2));
    world.storeIsThere = false;
    world.run(Duration.ofSeconds(30));
    world.storeIsThere = true;
    world.run(Duration.ofSeconds(10));
    assertThat(first.node.isServing()).isTrue();
    assertThat(second.node.isServing()).isFalse();
  }

  @Test
  void a_name_is_free_at_once_when_its_process_on_the_same_machine_is_gone() {
    Started first = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    first.pause(true);
    Started second = world.start("n", new FakeMachine("a", "a/2 node", Set.of("a/2 node")));
    world.run(SOON);
    assertThat(second.node.isServing()).isTrue();
  }

  @Test
  void a_queue_without_its_plugin_is_ignored_until_the_plugin_is_there() {
    Queue queue = world.queue("q", 2);
    world.plugins.clear();
    Started node = world.start("n", NodeWorld.machine("a"));
    world.submit(queue, 1);
    world.run(Duration.ofSeconds(3));
    assertThat(node.runners.begun).isEmpty();
    world.plugins.add("work");
    world.run(Duration.ofSeconds(2));
    assertThat(node.runners.begun).hasSize(1);
    assertThat(record("n").presence())
        .extracting(Presence::plugins, list(String.class))
        .containsExactly("work");
  }

  @Test
  void where_no_runner_can_be_started_tasks_go_back_and_the_queue_is_halted() {
    Queue queue = world.queue("q", 2);
    Started node = world.start("n", NodeWorld.machine("a"));
    node.runners.broken = true;
    List<ObjectId> tasks = world.submit(queue, 5);
    world.run(SOON);
    assertThat(world.threads(queue)).isZero();
    for (ObjectId task : tasks) {
      assertThat(world.task(task).status()).isEqualTo(Status.QUEUED);
      assertThat(world.task(task).progress().node()).isNull();
    }
    assertThat(world.queues.runs().all()).isEmpty();
  }

  @Test
  void a_running_task_whose_runner_is_lost_is_orphaned_with_the_reason() {
    Queue queue = world.queue("q", 2);
    Started node = world.start("n", NodeWorld.machine("a"));
    ObjectId task = world.submit(queue, 1).getFirst();
    world.run(SOON);
    world.startRun(node.runners.run(task), "a/7 runner");
    node.runners.listener.lost(task, "killed by signal 9");
    world.run(SOON);
    assertThat(world.task(task).status()).isEqualTo(Status.ORPHANED);
    assertThat(world.task(task).progress().reason()).isEqualTo("killed by signal 9");
  }

  @Test
  void runners_that_end_before_they_begin_halt_their_queue_at_the_third_time() {
    Queue queue = world.queue("q", 1);
    Started node = world.start("n", NodeWorld.machine("a"));
    ObjectId task = world.submit(queue, 1).getFirst();
    for (int i = 0; i < 3; i++) {
      assertThat(world.threads(queue)).isOne();
      world.run(SOON);
      assertThat(node.runners.begun).containsKey(task);
      node.runners.begun.clear();
      node.runners.listener.lost(task, "exit code 1");
    }
    world.run(SOON);
    assertThat(world.threads(queue)).isZero();
    assertThat(world.task(task).status()).isEqualTo(Status.QUEUED);
  }

  @Test
  void a_new_start_settles_what_the_last_one_left() {
    Queue queue = world.queue("q", 9);
    Started first = world.start("n", NodeWorld.machine("a"));
    List<ObjectId> tasks = world.submit(queue, 4);
    world.run(SOON);
    world.startRun(first.runners.run(tasks.get(1)), "a/7 runner");
    world.startRun(first.runners.run(tasks.get(2)), "b/8 runner");
    first.node.stop();
    world.run(SOON);
    assertThat(first.ended).isTrue();
    assertThat(record("n").presence()).isNull();

    RecordingRunners survivors = new RecordingRunners();
    survivors.survivors.add(tasks.get(3));
    world.queues.nodes().limit("n", 2);
    Started second = world.start("n", NodeWorld.machine("a"), survivors);
    world.run(SOON);
    assertThat(second.runners.begun).isEmpty();
    assertThat(world.task(tasks.get(0)).status()).isEqualTo(Status.QUEUED);
    assertThat(world.task(tasks.get(1)).status()).isEqualTo(Status.ORPHANED);
    assertThat(world.task(tasks.get(2)).status()).isEqualTo(Status.RUNNING);
    assertThat(world.task(tasks.get(3)).status()).isEqualTo(Status.CLAIMED);
  }

  @Test
  void an_operator_who_terminates_a_task_reaches_its_runner() {
    Queue queue = world.queue("q", 1);
    Started node = world.start("n", NodeWorld.machine("a"));
    ObjectId task = world.submit(queue, 1).getFirst();
    world.run(SOON);
    world.queues.tasks().terminate(task);
    world.run(SOON);
    assertThat(node.runners.stopped).containsExactly(task);
  }

  @Test
  void an_idle_node_beside_a_long_queue_only_refreshes_itself() {
    Queue queue = world.queue("q", 1);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.submit(queue, 2_000);
    // Until it has looked for what a start may leave behind.
    world.run(RunRegistry.UNTIL_RECORDED.plusSeconds(2));
    assertThat(node.runners.begun).hasSize(1);
    world.calls = 0;
    world.run(Duration.ofSeconds(30));
    assertThat(world.calls).isBetween(58, 62);
  }

  @Test
  void a_node_survives_a_store_that_is_away_and_hears_what_it_missed() {
    Queue queue = world.queue("q", 5);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    world.storeIsThere = false;
    world.run(Duration.ofSeconds(20));
    world.submit(queue, 5);
    world.run(Duration.ofSeconds(5));
    assertThat(node.runners.begun).isEmpty();
    world.storeIsThere = true;
    world.run(Duration.ofSeconds(3));
    assertThat(node.runners.begun).hasSize(5);
  }

  @Test
  void a_claim_that_never_came_on_record_is_missed_soon_after_a_start() {
    Queue queue = world.queue("q", 1);
    List<ObjectId> tasks = world.submit(queue, 1);
    world.claimWithoutRecord(queue);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    assertThat(node.runners.begun).isEmpty();
    world.run(RunRegistry.UNTIL_RECORDED.plusSeconds(2));
    assertThat(node.runners.begun).containsOnlyKeys(tasks);
  }
}

package io.millrace.queues.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.list;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.node.NodeWorld.FakeMachine;
import io.millrace.queues.node.NodeWorld.RecordingRunners;
import io.millrace.queues.node.NodeWorld.Started;
import io.millrace.queues.registry.ConfigRegistry;
import io.millrace.queues.registry.RunRegistry;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.SharedLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
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
  void a_node_takes_turns_with_others_that_wait_for_a_shared_limit() {
    new SharedLimits(world.store, Owner.client(7)).put("scanner", new Limit(1, 0, 0));
    Queue queue = world.queue("q", 5);
    world
        .queues
        .queues()
        .change(
            queue.id(),
            change ->
                new QueueBackend.Change(
                    change.name(),
                    change.plugin(),
                    change.settings().withPolicy(new Policy(Map.of("limits", "scanner")))));
    // Something that always has work, and waits in the store, as the permits of graph nodes do.
    Owner other = Owner.client(9);
    Throttling shares =
        new Throttling(
            Limit.NONE, Limit.NONE, Throttling.AGEING_MILLIS, Map.of(), List.of("scanner"));
    Transaction.Builder work =
        Transaction.by(other).put(Throttling.ofGroup("other"), DocumentVersion.ANY, shares.body());
    for (int i = 0; i < 30; i++) {
      work.add("other", Bytes.of("x"));
    }
    world.store.commit(work.build());
    Claim claim = Claim.of(other, "other", Duration.ofHours(1));
    Task held = world.store.claim(claim).done().tasks().getFirst();
    Started node = world.start("n", NodeWorld.machine("a"));
    world.submit(queue, 20);
    world.run(SOON);

    List<String> order = new ArrayList<>();
    CompletableFuture<Outcome> waiting = world.store.submit(claim.withWait(Duration.ofHours(1)));
    world.store.commit(Transaction.by(other).delete(held.ref()).build());
    while (order.size() < 20) {
      world.run(Duration.ofMillis(5));
      if (waiting.isDone()) {
        order.add("other");
        held = waiting.join().done().tasks().getFirst();
        waiting = world.store.submit(claim.withWait(Duration.ofHours(1)));
        world.store.commit(Transaction.by(other).delete(held.ref()).build());
      } else {
        assertThat(node.runners.begun).hasSize(1);
        order.add("node");
        world.finish(node, node.runners.begun.values().iterator().next());
      }
    }
    assertThat(Collections.frequency(order, "node")).as(order.toString()).isBetween(8, 12);
  }

  @Test
  void a_delayed_task_is_handed_over_when_its_time_has_come() {
    Queue queue = world.queue("q", 2);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    ObjectId later = world.submitLater(queue, Duration.ofSeconds(20));
    ObjectId sooner = world.submitLater(queue, Duration.ofSeconds(10));
    world.run(Duration.ofMillis(9_990));
    assertThat(node.runners.begun).isEmpty();
    world.run(Duration.ofMillis(100));
    assertThat(node.runners.begun.keySet()).containsExactly(sooner);
    world.run(Duration.ofSeconds(10));
    assertThat(node.runners.begun.keySet()).containsExactly(sooner, later);
  }

  @Test
  void a_node_that_starts_afterwards_hands_a_delayed_task_over_in_time() {
    Queue queue = world.queue("q", 2);
    world.submit(queue, 2);
    List<ObjectId> delayed = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      delayed.add(world.submitLater(queue, Duration.ofSeconds(10L * i)));
    }
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(Duration.ofSeconds(1));
    List.copyOf(node.runners.begun.values()).forEach(run -> world.finish(node, run));
    for (int i = 0; i < 3; i++) {
      world.run(Duration.ofMillis(i == 0 ? 9_100 : 9_900));
      assertThat(node.runners.begun.keySet()).containsExactly(delayed.get(i));
      world.finish(node, node.runners.run(delayed.get(i)));
      world.run(SOON);
    }
  }

  @Test
  void a_node_does_not_look_at_its_queues_while_all_tasks_are_delayed() {
    Queue queue = world.queue("q", 2);
    world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    world.submitLater(queue, Duration.ofSeconds(50));
    world.run(SOON);
    int before = world.calls;
    world.run(Duration.ofSeconds(10));
    // Only its heartbeat, once a second.
    assertThat(world.calls - before).isLessThanOrEqualTo(25);
  }

  @Test
  void tasks_that_a_limit_of_starts_keeps_waiting_are_run_when_they_may() {
    Queue queue = world.queue("q", 9);
    world
        .queues
        .queues()
        .change(
            queue.id(),
            old ->
                new QueueBackend.Change(
                    old.name(),
                    old.plugin(),
                    old.settings().withPolicy(new Policy(Map.of("starts", "1/2s")))));
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    world.submit(queue, 3);
    world.run(SOON);
    assertThat(node.runners.begun).hasSize(1);
    world.run(Duration.ofMillis(1_700));
    assertThat(node.runners.begun).hasSize(1);
    world.run(Duration.ofMillis(800));
    assertThat(node.runners.begun).hasSize(2);
    world.run(Duration.ofSeconds(2));
    assertThat(node.runners.begun).hasSize(3);
    world.run(Duration.ofSeconds(5));
    int before = world.calls;
    world.run(Duration.ofSeconds(10));
    // Nothing waits any more, so the node does not ask again: its heartbeat, and one look around.
    assertThat(world.calls - before).isLessThanOrEqualTo(30);
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
  void a_runner_is_prepared_once_there_is_a_queue_to_serve_and_threads_for_it() {
    Started node = world.start("n", NodeWorld.machine("a"));
    world.queues.nodes().limit("n", 0);
    world.run(Duration.ofMinutes(2));
    assertThat(node.runners.prepared).isZero();
    world.queue("q", 1);
    world.run(Duration.ofMinutes(2));
    assertThat(node.runners.prepared).isZero();
    world.queues.nodes().limit("n", 1);
    world.run(Duration.ofMinutes(2));
    assertThat(node.runners.prepared).isPositive();
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
        .extracting(NodeIdentity::plugins, list(String.class))
        .containsExactly("work");
  }

  @Test
  void twelve_tasks_on_three_nodes_are_begun_in_one_round_by_all_of_them() {
    Queue queue = world.queue("q", 12);
    List<Started> nodes =
        List.of(
            world.start("n1", NodeWorld.machine("a")),
            world.start("n2", NodeWorld.machine("b")),
            world.start("n3", NodeWorld.machine("c")));
    world.run(Duration.ofSeconds(2));
    world.submit(queue, 12);
    world.run(Duration.ofMillis(20));
    assertThat(nodes).allSatisfy(node -> assertThat(node.runners.begun).hasSize(4));
  }

  @Test
  void a_node_claims_at_once_for_its_idle_runners_and_for_a_few_that_it_starts() {
    Queue queue = world.queue("q", 100);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(Duration.ofSeconds(2));
    node.runners.idle = 20;
    world.submit(queue, 100);
    world.run(Duration.ofMillis(2));
    assertThat(node.runners.begun).hasSize(20 + StartPace.FEW);
  }

  @Test
  void a_node_that_is_alone_doubles_what_it_claims_every_tenth_of_a_second() {
    Queue queue = world.queue("q", 1_000);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(Duration.ofSeconds(2));
    world.submit(queue, 1_000);
    world.run(Duration.ofMillis(50));
    for (int begun : List.of(4, 12, 28, 60, 124, 188, 252)) {
      assertThat(node.runners.begun).hasSize(begun);
      world.run(Duration.ofMillis(100));
    }
  }

  @Test
  void while_its_runners_start_a_node_leaves_the_rest_to_others_but_not_for_ever() {
    Queue queue = world.queue("q", 100);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(Duration.ofSeconds(2));
    node.runners.starting = 1;
    world.submit(queue, 100);
    world.run(Duration.ofMillis(1_900));
    assertThat(node.runners.begun).hasSize(4);
    world.run(Duration.ofMillis(200));
    assertThat(node.runners.begun).hasSize(12);
    node.runners.starting = 0;
    node.runners.listener.begun();
    world.run(Duration.ofMillis(50));
    assertThat(node.runners.begun).hasSize(28);
  }

  @Test
  void a_sick_node_stops_claiming_and_another_goes_on_with_the_queue() {
    Queue queue = world.queue("q", 6);
    Started sick = world.start("sick", NodeWorld.machine("a"));
    world.run(SOON);
    Started well = world.start("well", NodeWorld.machine("b"));
    world.run(Duration.ofSeconds(2));
    sick.runners.broken = true;
    world.submit(queue, 6);
    world.run(Duration.ofSeconds(1));
    assertThat(well.runners.begun).hasSize(6);
    assertThat(world.threads(queue)).isEqualTo(6);
    Queue.Health health = world.queue(queue).health();
    assertThat(health.halt()).isNull();
    assertThat(health.suspensions())
        .singleElement()
        .satisfies(each -> {
          assertThat(each.node()).isEqualTo("sick");
          assertThat(each.reason()).isEqualTo("no memory for a process");
        });

    sick.runners.broken = false;
    Queue other = world.queue("other", 6);
    world.submit(other, 6);
    world.run(Duration.ofSeconds(1));
    assertThat(sick.runners.begun).as("of the queue that it can serve").isNotEmpty();
    assertThat(sick.runners.begun.values()).allMatch(run -> run.queue().equals(other.id()));
  }

  @Test
  void the_last_node_that_is_sick_halts_the_queue_and_resuming_it_restores_its_threads() {
    Queue queue = world.queue("q", 6);
    Started one = world.start("n1", NodeWorld.machine("a"));
    Started two = world.start("n2", NodeWorld.machine("b"));
    world.run(Duration.ofSeconds(2));
    one.runners.broken = true;
    two.runners.broken = true;
    List<ObjectId> tasks = world.submit(queue, 6);
    world.run(Duration.ofSeconds(1));
    assertThat(world.threads(queue)).isZero();
    Queue.Health.Halt halt = Objects.requireNonNull(world.queue(queue).health().halt());
    assertThat(halt.node()).isIn("n1", "n2");
    assertThat(halt.reason()).isEqualTo("no memory for a process");
    assertThat(halt.threads()).isEqualTo(6);
    assertThat(world.queue(queue).health().suspensions()).hasSize(2);

    one.runners.broken = false;
    two.runners.broken = false;
    assertThat(world.queues.queues().resume(queue.id())).isPresent();
    world.run(Duration.ofSeconds(1));
    assertThat(world.threads(queue)).isEqualTo(6);
    assertThat(world.queue(queue).health()).isEqualTo(Queue.Health.GOOD);
    assertThat(one.runners.begun.size() + two.runners.begun.size()).isEqualTo(tasks.size());
  }

  @Test
  void a_dead_node_or_one_that_may_not_serve_the_queue_keeps_no_queue_from_being_halted() {
    Queue queue = world.queue("q", 6);
    Started dead = world.start("dead", NodeWorld.machine("a"));
    world.start("elsewhere", NodeWorld.machine("b"));
    configure("elsewhere", "ignorequeues", List.of("q"));
    world.run(Duration.ofSeconds(2));
    dead.pause(true);
    world.run(Duration.ofSeconds(6));
    Started sick = world.start("sick", NodeWorld.machine("c"));
    sick.runners.broken = true;
    world.submit(queue, 1);
    world.run(Duration.ofSeconds(1));
    assertThat(world.threads(queue)).isZero();
  }

  @Test
  void other_threads_that_an_operator_sets_resume_a_halted_queue_too() {
    Queue queue = world.queue("q", 6);
    Started node = world.start("n", NodeWorld.machine("a"));
    node.runners.broken = true;
    world.submit(queue, 1);
    world.run(SOON);
    assertThat(world.threads(queue)).isZero();
    node.runners.broken = false;
    world
        .queues
        .queues()
        .change(
            queue.id(),
            old ->
                new QueueBackend.Change(old.name(), old.plugin(), old.settings().withThreads(2)));
    world.run(SOON);
    assertThat(world.queue(queue).health()).isEqualTo(Queue.Health.GOOD);
    assertThat(node.runners.begun).hasSize(1);
  }

  @Test
  void a_sick_node_that_is_started_again_claims_again() {
    Queue queue = world.queue("q", 6);
    world.start("well", NodeWorld.machine("b"));
    Started sick = world.start("sick", NodeWorld.machine("a"));
    world.run(Duration.ofSeconds(2));
    sick.runners.broken = true;
    world.submit(queue, 6);
    world.run(SOON);
    assertThat(world.queue(queue).health().isSuspendedOn("sick")).isTrue();
    sick.node.stop();
    world.run(SOON);
    Started again = world.start("sick", NodeWorld.machine("a"));
    world.run(SOON);
    assertThat(world.queue(queue).health()).isEqualTo(Queue.Health.GOOD);
    assertThat(again.node.isServing()).isTrue();
  }

  @Test
  void a_node_that_does_not_refresh_itself_is_dead_and_can_be_removed() {
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(Duration.ofSeconds(2));
    assertThat(record("n").stateAt(world.storeMillis())).isEqualTo(NodeRecord.State.ALIVE);
    assertThatThrownBy(() -> world.queues.nodes().remove("n"))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("node n is alive");
    node.pause(true);
    world.run(Duration.ofSeconds(6));
    world.queues.nodes().limit("n", 3);
    assertThat(record("n").stateAt(world.storeMillis())).isEqualTo(NodeRecord.State.DEAD);
    assertThat(world.queues.nodes().remove("n")).isTrue();
    assertThat(world.queues.nodes().find("n")).isEmpty();
    assertThat(world.queues.nodes().remove("n")).isFalse();
    node.pause(false);
    world.run(Duration.ofSeconds(2));
    assertThat(node.ended).as("it was removed, so it ends").isTrue();
  }

  @Test
  void a_node_that_has_ended_has_left() {
    Started node = world.start("n", NodeWorld.machine("a"));
    node.node.stop();
    world.run(SOON);
    assertThat(record("n").stateAt(world.storeMillis())).isEqualTo(NodeRecord.State.LEFT);
    assertThat(world.queues.nodes().remove("n")).isTrue();
  }

  @Test
  void a_task_that_was_to_be_terminated_is_not_said_to_be_orphaned() {
    Queue queue = world.queue("q", 2);
    Started node = world.start("n", NodeWorld.machine("a"));
    List<ObjectId> tasks = world.submit(queue, 2);
    world.run(SOON);
    tasks.forEach(task -> world.startRun(node.runners.run(task), "a/7 runner"));
    world.queues.tasks().terminate(tasks.getFirst());
    Logger log = (Logger) LoggerFactory.getLogger("io.millrace.queues.RunRegistry");
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try {
      tasks.forEach(task -> node.runners.listener.lost(task, "killed by signal 9"));
      world.run(SOON);
    } finally {
      log.detachAppender(lines);
    }
    assertThat(world.task(tasks.getFirst()).status()).isEqualTo(Status.TERMINATED);
    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "task %s is terminated, as was asked: killed by signal 9".formatted(tasks.get(0)),
            "task %s is orphaned: killed by signal 9".formatted(tasks.get(1)));
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

package io.millrace.queues.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.node.NodeWorld.FakeMachine;
import io.millrace.queues.node.NodeWorld.Started;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs that a node has claimed and that wait for a warm runner. */
class HandoverTest {
  private static final Duration SOON = Duration.ofMillis(100);

  private final NodeWorld world = new NodeWorld();

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void a_run_waits_a_moment_for_a_warm_runner_before_a_process_is_started_for_it() {
    Queue queue = world.queue("q", 9);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    node.runners.busy = true;
    List<ObjectId> tasks = world.submit(queue, 3);
    world.run(Duration.ofMillis(190));
    assertThat(node.runners.begun).isEmpty();
    assertThat(world.task(tasks.getFirst()).status()).isEqualTo(Status.CLAIMED);
    world.run(Duration.ofMillis(20));
    assertThat(node.runners.begun).containsOnlyKeys(tasks);
  }

  @Test
  void a_runner_that_becomes_free_gets_the_run_that_waits_at_once() {
    Queue queue = world.queue("q", 1);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    List<ObjectId> tasks = world.submit(queue, 2);
    world.run(SOON);
    node.runners.busy = true;
    Run first = node.runners.run(tasks.get(0));
    world.startAndReport(first);
    world.run(Duration.ofMillis(20));
    // The store knows of the end, and the node does not yet.
    assertThat(world.task(tasks.get(1)).status()).isEqualTo(Status.CLAIMED);
    assertThat(node.runners.begun).containsOnlyKeys(tasks.get(0));
    node.runners.busy = false;
    node.runners.listener.ended(first.task());
    world.run(Duration.ofMillis(2));
    assertThat(node.runners.begun).containsOnlyKeys(tasks);
  }

  @Test
  void a_run_that_waits_for_a_warm_runner_is_terminated_without_one() {
    Queue queue = world.queue("q", 1);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    node.runners.busy = true;
    ObjectId task = world.submit(queue, 1).getFirst();
    world.run(SOON);
    world.queues.tasks().terminate(task);
    world.run(Duration.ofSeconds(1));
    assertThat(node.runners.begun).isEmpty();
    assertThat(world.task(task).status()).isEqualTo(Status.TERMINATED);
  }

  @Test
  void a_node_that_is_told_to_end_gives_back_what_waits_for_a_warm_runner() {
    Queue queue = world.queue("q", 1);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    node.runners.busy = true;
    ObjectId task = world.submit(queue, 1).getFirst();
    world.run(SOON);
    node.node.stop();
    world.run(SOON);
    assertThat(node.ended).isTrue();
    assertThat(node.runners.begun).isEmpty();
    assertThat(world.task(task).status()).isEqualTo(Status.QUEUED);
  }

  @Test
  void what_waited_for_a_warm_runner_of_a_dead_node_is_begun_by_its_next_start() {
    Queue queue = world.queue("q", 1);
    Started first = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    first.runners.busy = true;
    ObjectId task = world.submit(queue, 1).getFirst();
    world.run(SOON);
    first.pause(true);
    Started second = world.start("n", new FakeMachine("a", "a/2 node", Set.of("a/2 node")));
    world.run(SOON);
    assertThat(first.runners.begun).isEmpty();
    assertThat(second.runners.begun).containsOnlyKeys(task);
  }

  @Test
  void what_waits_for_a_warm_runner_goes_back_when_its_queue_is_deleted() {
    Queue queue = world.queue("q", 1);
    Started node = world.start("n", NodeWorld.machine("a"));
    world.run(SOON);
    node.runners.busy = true;
    ObjectId task = world.submit(queue, 1).getFirst();
    world.run(SOON);
    world.queues.queues().delete(queue.id());
    world.run(SOON);
    assertThat(node.runners.begun).isEmpty();
    assertThat(world.task(task).status()).isEqualTo(Status.QUEUED);
  }
}

package io.millrace.queues.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.TaskStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** Nodes that live by themselves, over a store of this process. */
class NodeDriverTest {
  private static final long PATIENCE_SECONDS = 60;

  private final TaskStore store;
  private final Queues queues;

  NodeDriverTest(@TempDir Path folder) {
    store = TaskStore.open(StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC));
    queues = Queues.in(store, InstantSource.system(), new Random(1));
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** Runners that only tell what they were given. */
  private static final class Handed implements Runners {
    private final BlockingQueue<Run> runs = new LinkedBlockingQueue<>();
    private volatile boolean closed;

    ObjectId next() throws InterruptedException {
      Run run = runs.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      return Objects.requireNonNull(run, "no run was handed over").task();
    }

    @Override
    public Set<ObjectId> recover(Collection<Run> recorded, Listener listener) {
      return Set.of();
    }

    @Override
    public void begin(Run run, String plugin, NodeConfig config) {
      runs.add(run);
    }

    @Override
    public void stop(ObjectId task, Duration grace) {}

    @Override
    public void close() {
      closed = true;
    }
  }

  private ExecutionNode node(String instance, Machine machine, Runners runners) {
    return new ExecutionNode(
        NodeOptions.of("n", instance), queues, runners, () -> Set.of("work"), machine);
  }

  private ObjectId submit(String name) {
    Queue queue = queues.queues().create(name, "work", Queue.Settings.DEFAULTS.withThreads(5));
    var params = JsonNodeFactory.instance.objectNode().put("number", 1);
    return queues.submission().submit(queue, List.of(params), Status.QUEUED).getFirst();
  }

  private NodeRecord record() {
    return queues.nodes().find("n").orElseThrow();
  }

  @Test
  void a_node_hears_of_new_tasks_and_hands_them_over() throws Exception {
    Handed handed = new Handed();
    try (NodeDriver _ = NodeDriver.start(node("one", NodeWorld.machine("a"), handed), store)) {
      ObjectId first = submit("first");
      assertThat(handed.next()).isEqualTo(first);
      ObjectId second = submit("second");
      assertThat(handed.next()).isEqualTo(second);
    }
  }

  @Test
  void closing_ends_it_and_gives_its_name_back() throws Exception {
    Handed handed = new Handed();
    NodeDriver driver = NodeDriver.start(node("one", NodeWorld.machine("a"), handed), store);
    submit("first");
    handed.next();
    assertThat(record().isHeldBy("one")).isTrue();
    assertThat(driver.onEnd()).isNotDone();

    driver.close();
    driver.close();

    assertThat(driver.onEnd()).isCompleted();
    assertThat(record().presence()).isNull();
    assertThat(handed.closed).isTrue();
  }

  @Test
  void a_second_node_of_the_name_waits_until_the_first_has_left() throws Exception {
    Handed first = new Handed();
    Handed second = new Handed();
    NodeDriver before = NodeDriver.start(node("one", NodeWorld.machine("a"), first), store);
    submit("first");
    first.next();
    ExecutionNode waiting = node("two", NodeWorld.machine("b"), second);
    try (NodeDriver _ = NodeDriver.start(waiting, store)) {
      ObjectId task = submit("second");
      assertThat(first.next()).isEqualTo(task);
      assertThat(waiting.isServing()).isFalse();

      before.close();

      ObjectId later = submit("third");
      // What the first was given and did not begin may come before it.
      while (!second.next().equals(later)) {
        assertThat(waiting.isServing()).isTrue();
      }
      assertThat(record().isHeldBy("two")).isTrue();
    }
  }

  @Test
  void a_node_whose_name_is_taken_ends_by_itself() throws Exception {
    Handed handed = new Handed();
    ExecutionNode node = node("one", NodeWorld.machine("a"), handed);
    NodeDriver driver = NodeDriver.start(node, store);
    submit("first");
    handed.next();
    NodeIdentity other = new NodeIdentity("other", "b", "b/1 node", List.of());
    while (queues.nodes().take("n", record(), other).isEmpty()) {
      LockSupport.parkNanos(1_000_000);
    }

    driver.onEnd().get(PATIENCE_SECONDS, TimeUnit.SECONDS);

    assertThat(node.hasLostName()).isTrue();
    assertThat(record().isHeldBy("other")).isTrue();
  }
}

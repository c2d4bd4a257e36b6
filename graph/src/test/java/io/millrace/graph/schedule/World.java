package io.millrace.graph.schedule;

import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphForms;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.schedule.SchedulerContext.Credentials;
import io.millrace.graph.type.NodeTypes;
import io.millrace.processes.ProcessLauncher;
import io.millrace.work.Step;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.DoubleNode;
import tools.jackson.databind.node.IntNode;

/** A scheduler in one thread, with a clock that stands until it is moved. */
final class World {
  final FakeType work = new FakeType("work", Kind.WORK, true);
  final FakeType quiet = new FakeType("quiet", Kind.WORK, false);
  final FakeType condition = new FakeType("condition", Kind.CONDITION, true);
  final MemoryGraph graph;

  /** What other threads would do. */
  final ArrayDeque<Runnable> tasks = new ArrayDeque<>();

  private final ProcessLauncher launcher = ProcessLauncher.create();
  private final Path folder;
  private final int places;
  private NodeTypes types = new NodeTypes(List.of(work, quiet, condition));
  GraphScheduler scheduler;
  long nowMillis = 1_000_000;
  private boolean woken;
  private long nextMillis;

  World(Path folder, int places) {
    this.folder = folder;
    this.places = places;
    this.graph = new MemoryGraph(() -> nowMillis, this::kind);
    this.scheduler = open();
  }

  private Kind kind(String type) {
    return type.equals("group") ? Kind.GROUP : types.find(type).orElseThrow().kind();
  }

  private GraphScheduler open() {
    GraphScheduler fresh =
        new GraphScheduler(
            graph,
            types,
            new SchedulerOptions(folder, places, 1_000),
            new SchedulerContext(launcher, Credentials.NONE, tasks::add, new Random(1)));
    fresh.wakeBy(() -> woken = true);
    return fresh;
  }

  /** The server goes, whatever it was about to do, and another one comes. */
  void restart() {
    scheduler.close();
    tasks.clear();
    graph.forgetListeners();
    scheduler = open();
  }

  /** The same with only these types. */
  void restartWith(FakeType... left) {
    types = new NodeTypes(List.of(left));
    restart();
  }

  void step() {
    woken = false;
    Instant next = scheduler.step(Instant.ofEpochMilli(nowMillis));
    nextMillis = next.equals(Step.NEVER) ? Long.MAX_VALUE : next.toEpochMilli();
  }

  void task() {
    Runnable task = tasks.poll();
    if (task != null) {
      task.run();
    }
  }

  /** Everything that happens now. */
  void settle() {
    do {
      step();
      while (!tasks.isEmpty()) {
        task();
      }
    } while (woken || nextMillis <= nowMillis);
  }

  /** Lets time pass, and all happen that is due in it. */
  void pass(long millis) {
    long until = nowMillis + millis;
    settle();
    while (nextMillis <= until) {
      nowMillis = nextMillis;
      settle();
    }
    nowMillis = until;
    settle();
  }

  NodeId add(FakeType type, Map<String, JsonNode> data, NodeId... parents) {
    return graph.add(node(type, null, data, parents));
  }

  NodeId add(NodeId... parents) {
    return add(work, Map.of(), parents);
  }

  NodeId on(Branch branch, NodeId parent) {
    return graph.add(node(work, branch, Map.of(), parent));
  }

  static Map<String, JsonNode> retries(int count, double backoff) {
    return Map.of("retries", IntNode.valueOf(count), "backoff", DoubleNode.valueOf(backoff));
  }

  private static NewNode node(
      FakeType type, @Nullable Branch branch, Map<String, JsonNode> data, NodeId... parents) {
    NewNode.Place place = new NewNode.Place(GraphForms.refs(parents), List.of(), branch);
    return new NewNode(null, null, type.name(), place, false, data);
  }
}

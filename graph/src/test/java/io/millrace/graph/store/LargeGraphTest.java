package io.millrace.graph.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FileBlobStore;
import io.millrace.graph.Caller;
import io.millrace.graph.GraphForms;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.TestType;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A graph of 100,000 nodes on this machine's disk. It says how long each step took, and none takes
 * a multiple of its target even where other work has most of the machine. {@code
 * -Dmillrace.graph.nodes=N} says how many nodes, {@code -Dmillrace.graph.runs=100000} runs all of
 * them.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class LargeGraphTest {
  private static final int NODES = Integer.getInteger("millrace.graph.nodes", 100_000);
  private static final int RUNS =
      Math.min(NODES, Integer.getInteger("millrace.graph.runs", 20_000));
  private static final int REQUEST = 10_000;
  private static final int BATCH = 256;

  /** The targets, and how many times as long a step may take on a busy machine. */
  private static final Duration TO_ADD = Duration.ofSeconds(10);

  private static final Duration TO_RUN_ONE = Duration.ofMillis(1);
  private static final Duration TO_READ_TEN_PAGES = Duration.ofMillis(500);
  private static final Duration TO_SEARCH = Duration.ofMillis(500);
  private static final int LENIENCE = 8;

  private final Path folder;
  private final TestReporter reporter;

  LargeGraphTest(@TempDir Path folder, TestReporter reporter) {
    this.folder = folder;
    this.reporter = reporter;
  }

  private <T> T timed(String what, Supplier<T> work) {
    return timed(what, Duration.ofHours(1), work);
  }

  private <T> T timed(String what, Duration target, Supplier<T> work) {
    long start = System.nanoTime();
    Duration before = cpu();
    T result = work.get();
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    reporter.publishEntry(what, took + ", " + cpu().minus(before) + " of all processors");
    assertThat(took).as(what).isLessThan(target.multipliedBy(LENIENCE));
    return result;
  }

  private static Duration cpu() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
  }

  private StoredGraph open(TaskStore store) {
    return StoredGraph.open(
        store,
        FileBlobStore.open(folder.resolve("blobs")),
        TestType.ALL,
        InstantSource.system(),
        new Random(1));
  }

  @Test
  void many_nodes_are_added_read_run_and_removed() {
    StoreOptions options = StoreOptions.in(folder.resolve("store"));
    NodeId top;
    try (TaskStore store = TaskStore.open(options)) {
      StoredGraph graph = open(store);
      top =
          graph.registry().add(Caller.ANYONE, List.of(GraphForms.form("command"))).getFirst().id();
      List<NodeId> ids = timed("adding", TO_ADD, () -> addAll(graph, top));
      Page<GraphNode> first = timed("ten first pages", TO_READ_TEN_PAGES, () -> firstPages(graph));
      assertThat(first.items()).hasSize(1_000);
      assertThat(first.items().getLast().reason()).isEqualTo("waits for node " + top);
      timed("the failure above", () -> run(graph, List.of(top), new Outcome.Failed("it broke")));
      assertThat(stateOf(graph, ids.getLast())).isEqualTo(NodeState.BLOCKED);
      timed("the retry above", () -> graph.registry().retry(Caller.ANYONE, top, null));
      timed("the end above", () -> run(graph, List.of(top), new Outcome.Finished(null)));
      timed("starting and ending", TO_RUN_ONE.multipliedBy(RUNS), () -> runSome(graph));
      assertThat(ids.subList(0, RUNS)).allMatch(id -> stateOf(graph, id) == NodeState.FINISHED);
      timed("ten warm first pages", TO_READ_TEN_PAGES, () -> firstPages(graph));
      for (int i = 0; i < 3; i++) {
        Page<GraphNode> found =
            timed(
                "a search in all data",
                TO_SEARCH,
                () -> graph.registry().nodes(NodeFilter.ALL, "number " + (NODES - 1), null));
        assertThat(found.items()).extracting(GraphNode::id).containsExactly(ids.getLast());
      }
    }
    try (TaskStore store = TaskStore.open(options)) {
      StoredGraph graph = timed("opening", () -> open(store));
      int removed =
          timed(
              "removing", () -> graph.registry().remove(Caller.ANYONE, top, Removal.SUBTREE, null));
      assertThat(removed).isEqualTo(NODES + 1);
      assertThat(graph.registry().snapshot(NodeFilter.ALL).nodes()).isEmpty();
    }
  }

  private static NodeState stateOf(StoredGraph graph, NodeId id) {
    return graph.registry().node(id).orElseThrow().state();
  }

  private static Page<GraphNode> firstPages(StoredGraph graph) {
    Page<GraphNode> page = graph.registry().nodes(NodeFilter.ALL, null);
    for (int i = 1; i < 10; i++) {
      page = graph.registry().nodes(NodeFilter.ALL, null);
    }
    return page;
  }

  private static List<NodeId> addAll(StoredGraph graph, NodeId top) {
    List<NodeId> ids = new ArrayList<>();
    for (int from = 0; from < NODES; from += REQUEST) {
      List<NewNode> forms = new ArrayList<>();
      for (int i = from; i < Math.min(NODES, from + REQUEST); i++) {
        forms.add(
            GraphForms.with(
                GraphForms.form("command", top),
                Map.of("command", Json.text("echo"), "args", Json.text("number " + i))));
      }
      graph.registry().add(Caller.ANYONE, forms).forEach(node -> ids.add(node.id()));
    }
    return ids;
  }

  private static int run(StoredGraph graph, List<NodeId> ids, Outcome outcome) {
    List<GraphWork.Item> started = graph.work().start(ids);
    graph
        .work()
        .end(
            started.stream()
                .map(item ->
                    new GraphWork.Ended(
                        item.node().id(),
                        item.node().phase().attempt(),
                        outcome,
                        Map.of("result", Json.text("0")),
                        Map.of()))
                .toList());
    return started.size();
  }

  private static int runSome(StoredGraph graph) {
    int all = 0;
    while (all < RUNS) {
      List<GraphNode> ready =
          graph.work().ready("command", Math.min(BATCH, RUNS - all), System.currentTimeMillis());
      assertThat(ready).isNotEmpty();
      all += run(graph, ready.stream().map(GraphNode::id).toList(), new Outcome.Finished(null));
    }
    return all;
  }
}

package io.millrace.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FileBlobStore;
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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A graph of many nodes on this machine's disk. It says how long each step took; {@code
 * -Dmillrace.graph.nodes=100000} makes it as large as the targets are.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class LargeGraphTest {
  private static final Logger LOG = LoggerFactory.getLogger(LargeGraphTest.class);
  private static final int NODES = Integer.getInteger("millrace.graph.nodes", 20_000);
  private static final int REQUEST = 10_000;
  private static final int BATCH = 256;

  @TempDir Path folder;

  private static <T> T timed(String what, Supplier<T> work) {
    long start = System.nanoTime();
    Duration before = cpu();
    T result = work.get();
    LOG.info(
        "{} of {} nodes took {}, {} of all processors",
        what,
        NODES,
        Duration.ofNanos(System.nanoTime() - start),
        cpu().minus(before));
    return result;
  }

  private static Duration cpu() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
  }

  private StoredGraph open(TaskStore store) {
    GraphEnvironment environment = new GraphEnvironment(InstantSource.system(), new Random(1));
    return StoredGraph.open(
        store, FileBlobStore.open(folder.resolve("blobs")), TestType.ALL, environment);
  }

  @Test
  void many_nodes_are_added_read_run_and_removed() {
    StoreOptions options = StoreOptions.in(folder.resolve("store"));
    NodeId top;
    try (TaskStore store = TaskStore.open(options)) {
      StoredGraph graph = open(store);
      top =
          graph.registry().add(Caller.ANYONE, List.of(GraphForms.form("command"))).getFirst().id();
      List<NodeId> ids = timed("adding", () -> addAll(graph, top));
      Page<GraphNode> first = timed("a first page", () -> firstPage(graph));
      assertThat(first.items()).hasSize(1_000);
      assertThat(first.items().getLast().reason()).isEqualTo("waits for node " + top);
      timed("the failure above", () -> run(graph, List.of(top), new Outcome.Failed("it broke")));
      assertThat(graph.registry().node(ids.getLast()).orElseThrow().state())
          .isEqualTo(NodeState.BLOCKED);
      timed("the retry above", () -> graph.registry().retry(Caller.ANYONE, top, null));
      timed("the end above", () -> run(graph, List.of(top), new Outcome.Finished(null)));
      timed("starting and ending", () -> runAll(graph));
      assertThat(graph.registry().node(ids.getLast()).orElseThrow().state())
          .isEqualTo(NodeState.FINISHED);
      timed("a warm first page", () -> firstPage(graph));
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

  private static Page<GraphNode> firstPage(StoredGraph graph) {
    return graph.registry().nodes(NodeFilter.ALL, null);
  }

  private static List<NodeId> addAll(StoredGraph graph, NodeId top) {
    List<NodeId> ids = new ArrayList<>();
    for (int from = 0; from < NODES; from += REQUEST) {
      List<NodeForm> forms = new ArrayList<>();
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

  private static int runAll(StoredGraph graph) {
    int all = 0;
    while (true) {
      List<GraphNode> ready = graph.work().ready("command", BATCH, System.currentTimeMillis());
      if (ready.isEmpty()) {
        return all;
      }
      all += run(graph, ready.stream().map(GraphNode::id).toList(), new Outcome.Finished(null));
    }
  }
}

package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FileBlobStore;
import io.millrace.graph.Caller;
import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.Phase;
import io.millrace.graph.TestType;
import io.millrace.graph.store.StoredGraph;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever applies what a view tells has what the filter lets through, whatever happens. */
final class EventViewTest {
  private static final int STEPS = 120;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void a_subscriber_always_has_what_its_filter_lets_through(long seed) throws Exception {
    Random random = new Random(seed);
    StoreOptions options =
        StoreOptions.in(Path.of("store")).withEnvironment(new SimulatedEnvironment(seed));
    try (TaskStore store = TaskStore.open(options)) {
      StoredGraph graph =
          StoredGraph.open(
              store, FileBlobStore.open(folder), TestType.ALL, InstantSource.system(), random);
      Chance chance = new Chance(graph, random);
      for (int i = 0; i < 20; i++) {
        chance.step();
      }
      List<NodeFilter> filters =
          List.of(
              NodeFilter.ALL,
              new NodeFilter(Set.of("group"), Set.of(), null, 0),
              new NodeFilter(Set.of(), Set.of(NodeState.READY, NodeState.KILLED), null, 0),
              new NodeFilter(Set.of(), Set.of(), chance.top(), 0),
              new NodeFilter(
                  Set.of("command"),
                  Set.of(NodeState.INCIPIENT, NodeState.BLOCKED),
                  chance.top(),
                  0));
      List<Subscriber> subscribers = new ArrayList<>();
      for (NodeFilter filter : filters) {
        subscribers.add(new Subscriber(graph.registry(), filter));
      }
      for (int i = 0; i < STEPS; i++) {
        chance.step();
        for (Subscriber subscriber : subscribers) {
          if (random.nextInt(4) > 0) {
            continue;
          }
          if (random.nextInt(3) == 0) {
            subscriber.resume();
          }
          subscriber.hear();
          subscriber.check("seed " + seed + ", step " + i);
        }
      }
      subscribers.forEach(Subscriber::close);
    }
  }

  /** Somebody who applies what is told. */
  private static final class Subscriber {
    private final GraphRegistry graph;
    private final NodeFilter filter;
    private final Map<NodeId, NodeState> known = new TreeMap<>();
    private EventView view;
    private GraphChanges changes;
    private long version;

    Subscriber(GraphRegistry graph, NodeFilter filter) {
      this.graph = graph;
      this.filter = filter;
      this.changes = graph.changes(null);
      this.view = new EventView(graph, filter, false);
      GraphRegistry.Snapshot snapshot = view.begin();
      version = snapshot.version();
      snapshot.nodes().forEach(node -> known.put(node.id(), node.state()));
    }

    /** Goes on behind the last version, on a connection that knows nothing of the one before. */
    void resume() {
      changes.close();
      changes = graph.changes(version);
      view = new EventView(graph, filter, true);
    }

    void hear() throws InterruptedException {
      for (GraphEvent event : changes.next(Duration.ZERO)) {
        version = event.version();
        EventView.Seen seen = view.see(event);
        seen.changed().forEach(node -> known.put(node.id(), node.state()));
        seen.gone().forEach(known::remove);
      }
    }

    void check(String when) {
      Map<NodeId, NodeState> right = new TreeMap<>();
      graph.snapshot(filter).nodes().forEach(node -> right.put(node.id(), node.state()));
      assertThat(known).as("%s, %s", filter, when).isEqualTo(right);
    }

    void close() {
      changes.close();
    }
  }

  /** Lets anything happen to a graph. */
  private static final class Chance {
    private final GraphRegistry registry;
    private final GraphWork work;
    private final Random random;
    private final NodeId top;

    Chance(StoredGraph graph, Random random) {
      this.registry = graph.registry();
      this.work = graph.work();
      this.random = random;
      this.top = add("command", NewNode.Place.ROOT);
    }

    /** A node that is never removed. */
    NodeId top() {
      return top;
    }

    private NodeId add(String type, NewNode.Place place) {
      NewNode form = new NewNode(null, null, type, place, false, Map.of());
      return registry.add(Caller.ANYONE, List.of(form)).getFirst().id();
    }

    private NewNode.Place place(List<GraphNode> nodes) {
      if (random.nextInt(4) == 0) {
        return NewNode.Place.ROOT;
      }
      NodeRef parent = new NodeRef.Existing(pick(nodes).id());
      return new NewNode.Place(List.of(parent), List.of(), null);
    }

    private GraphNode pick(List<GraphNode> nodes) {
      return nodes.get(random.nextInt(nodes.size()));
    }

    void step() {
      List<GraphNode> nodes = registry.snapshot(NodeFilter.ALL).nodes();
      GraphNode node = pick(nodes);
      try {
        switch (random.nextInt(8)) {
          case 0, 1, 2 -> add(random.nextInt(4) == 0 ? "group" : "command", place(nodes));
          case 3, 4 -> registry.move(Caller.ANYONE, node.id(), place(nodes), null);
          case 5 -> {
            if (!node.id().equals(top)) {
              Removal removal =
                  isAbove(node.id(), nodes) || random.nextBoolean()
                      ? Removal.ALONE
                      : Removal.SUBTREE;
              registry.remove(Caller.ANYONE, node.id(), removal, null);
            }
          }
          case 6 -> run(node);
          default -> {
            if (node.state() == NodeState.KILLED || node.state() == NodeState.FAILED) {
              registry.retry(Caller.ANYONE, node.id(), null);
            } else {
              registry.kill(Caller.ANYONE, List.of(node.id()), Kill.DEFAULT);
            }
          }
        }
      } catch (InvalidGraphException | NodeStateException _) {
        // Chance asks for what makes no sense as well.
      }
    }

    /** Whether the top is below it, so that it must stay. */
    private boolean isAbove(NodeId id, List<GraphNode> nodes) {
      return registry.snapshot(new NodeFilter(Set.of(), Set.of(), id, 0)).nodes().stream()
              .anyMatch(below -> below.id().equals(top))
          || nodes.size() < 3;
    }

    private void run(GraphNode node) {
      if (node.phase() instanceof Phase.Running running
          && !node.definition().type().equals("group")) {
        Outcome outcome =
            random.nextBoolean() ? new Outcome.Finished(null) : new Outcome.Failed("by chance");
        work.end(
            List.of(
                new GraphWork.Ended(node.id(), running.attempt(), outcome, Map.of(), Map.of())));
      } else {
        var _ = work.start(List.of(node.id()));
      }
    }
  }
}

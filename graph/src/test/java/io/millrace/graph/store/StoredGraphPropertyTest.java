package io.millrace.graph.store;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.Caller;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.GraphGroups;
import io.millrace.graph.GraphGroups.ReadyGroup;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.model.Change;
import io.millrace.graph.model.Graph;
import io.millrace.graph.model.Oracle;
import io.millrace.graph.store.GraphSession.TransactionLimits;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore.DocumentQuery;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random graphs in a store, with everything done to them at random, over a line that breaks before
 * and after any commit, and with restarts in between.
 */
class StoredGraphPropertyTest {
  private static final int STEPS = 150;
  private static final int MAX_NODES = 40;
  private static final List<String> TYPES = List.of("command", "command", "condition", "group");

  @TempDir Path folder;

  private Random random = new Random(0);
  private boolean broken;
  private long largest;

  /** How often each node was started, as far as answers came. */
  private final Map<NodeId, Integer> starts = new HashMap<>();

  /** The graph as somebody knows it who follows its changes. */
  private final TreeMap<NodeId, GraphNode> followed = new TreeMap<>();

  private @Nullable GraphChanges changes;
  private @Nullable GraphGroups groups;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whatever_breaks_the_graph_stays_whole_and_comes_to_an_end(long seed) {
    random = new Random(seed);
    TransactionLimits small = new TransactionLimits(6, 100_000, 1_000);
    try (GraphFixture world = new GraphFixture(folder, small, Limits.defaults())) {
      for (int i = 0; i < STEPS; i++) {
        step(world);
        check(world);
      }
      runToTheEnd(world);
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }

  private void step(GraphFixture world) {
    broken = false;
    int danger = random.nextInt(4) == 0 ? 3 : 1_000;
    world.breakLine(() -> {
      boolean breaks = random.nextInt(danger) == 0;
      broken |= breaks;
      return breaks;
    });
    try {
      act(world);
    } catch (InvalidGraphException | NodeStateException | UnknownNodeException e) {
      assertThat(e).hasMessageMatching(".*(node|group).*");
    } catch (StoreException e) {
      assertThat(broken).isTrue();
    }
    world.breakLine(() -> false);
    if (random.nextInt(12) == 0) {
      List<GraphNode> before = nodes(world);
      world.restart();
      changes = null;
      groups = null;
      if (!broken) {
        assertThat(nodes(world))
            .usingRecursiveComparison()
            .ignoringFields("version")
            .isEqualTo(before);
      }
    }
    // Where the store was lost, this finds the graph again.
    assertThat(world.start(new NodeId(NodeId.MOST))).isEmpty();
  }

  private void act(GraphFixture world) {
    switch (random.nextInt(12)) {
      case 0, 1, 2 -> add(world);
      case 3, 4, 5 -> start(world);
      case 6, 7, 8 -> end(world);
      case 9 ->
          some(world)
              .ifPresent(id -> world.registry().kill(Caller.ANYONE, List.of(id), Kill.DEFAULT));
      case 10 -> some(world).ifPresent(id -> world.registry().retry(Caller.ANYONE, id, null));
      default -> some(world).ifPresent(id -> rearrange(world, id));
    }
  }

  private void rearrange(GraphFixture world, NodeId id) {
    GraphRegistry graph = world.registry();
    switch (random.nextInt(4)) {
      case 0 -> graph.remove(Caller.ANYONE, id, any(List.of(Removal.values())), null);
      case 1 -> graph.rename(Caller.ANYONE, id, "name " + random.nextInt(9), null);
      case 2 -> {
        DataWrite write = new DataWrite.Whole(Json.text("x".repeat(random.nextInt(9_000))));
        var _ = graph.put(Caller.ANYONE, id, "note", write, null);
      }
      default -> {
        NewNode.Place place = new NewNode.Place(refs(world, 1, 2), refs(world, 1, 1), null);
        var _ = graph.move(Caller.ANYONE, id, place, null);
      }
    }
  }

  private void add(GraphFixture world) {
    if (nodes(world).size() > MAX_NODES) {
      some(world)
          .ifPresent(id -> world.registry().remove(Caller.ANYONE, id, Removal.SUBTREE, null));
      return;
    }
    List<NewNode> forms = new ArrayList<>();
    int count = 1 + random.nextInt(6);
    for (int i = 0; i < count; i++) {
      Branch branch = random.nextInt(4) == 0 ? any(List.of(Branch.values())) : null;
      NewNode.Place place =
          new NewNode.Place(refs(world, count, 3), refs(world, count, random.nextInt(2)), branch);
      forms.add(new NewNode("n" + i, null, any(TYPES), place, random.nextInt(8) == 0, Map.of()));
    }
    world
        .registry()
        .add(Caller.ANYONE, forms)
        .forEach(node -> {
          assertThat(node.id().value()).isGreaterThan(largest);
          largest = node.id().value();
        });
  }

  private List<NodeRef> refs(GraphFixture world, int locals, int most) {
    List<NodeRef> refs = new ArrayList<>();
    int count = random.nextInt(most + 1);
    for (int i = 0; i < count; i++) {
      NodeRef ref =
          random.nextInt(3) == 0
              ? new NodeRef.Local("n" + random.nextInt(locals))
              : some(world).<NodeRef>map(NodeRef.Existing::new).orElse(new NodeRef.Local("n0"));
      if (!refs.contains(ref)) {
        refs.add(ref);
      }
    }
    return refs;
  }

  private void start(GraphFixture world) {
    List<NodeId> due = ready(world);
    List<NodeId> wanted = due.subList(0, Math.min(due.size(), 1 + random.nextInt(6)));
    world.work().start(wanted).forEach(this::started);
  }

  private void started(GraphWork.Item item) {
    int attempt = item.node().phase().attempt();
    assertThat(attempt).isGreaterThan(starts.getOrDefault(item.node().id(), 0));
    starts.put(item.node().id(), attempt);
  }

  private void end(GraphFixture world) {
    List<GraphWork.Ended> ended = new ArrayList<>();
    for (GraphWork.Item item : world.work().running()) {
      if (random.nextInt(3) > 0) {
        Outcome outcome =
            switch (random.nextInt(5)) {
              case 0 -> new Outcome.Failed("chance");
              case 1 -> new Outcome.Again(0, "");
              default -> finished(item.node());
            };
        ended.add(ended(item.node(), outcome));
      }
    }
    world.work().end(ended);
  }

  private Outcome finished(GraphNode node) {
    boolean chooses = node.definition().kind() == Kind.CONDITION;
    return new Outcome.Finished(chooses ? any(List.of(Branch.values())) : null);
  }

  private GraphWork.Ended ended(GraphNode node, Outcome outcome) {
    TextTail tail = new TextTail().write("x".repeat(random.nextInt(6_000)));
    return new GraphWork.Ended(
        node.id(),
        node.phase().attempt(),
        outcome,
        Map.of("result", Json.text("r" + node.phase().attempt())),
        Map.of("stdout", tail));
  }

  private void check(GraphFixture world) {
    Graph facts = new Graph();
    List<GraphNode> nodes = nodes(world);
    var _ =
        facts.apply(
            nodes.stream()
                .<Change>map(it -> new Change.Added(it.id(), it.definition(), it.phase(), null, 0))
                .toList());
    TreeMap<NodeId, NodeState> states = new TreeMap<>();
    nodes.forEach(node -> states.put(node.id(), node.state()));
    assertThat(states).isEqualTo(new Oracle(facts).states());
    Map<NodeState, Long> counts = new EnumMap<>(world.registry().counts());
    counts.values().removeIf(count -> count == 0);
    assertThat(counts)
        .isEqualTo(states.values().stream().collect(groupingBy(it -> it, counting())));
    checkGroups(world, nodes);
    assertThat(facts.consequences(0)).isEmpty();
    assertThat(documents(world, Keys.NODES)).isEqualTo(nodes.size());
    assertThat(documents(world, Keys.DATA)).isEqualTo(nodes.size());
    assertThat(documents(world, Keys.PENDING)).isZero();
    assertThat(ready(world)).allMatch(id -> states.get(id) == NodeState.READY);
    follow(world);
    assertThat(new ArrayList<>(followed.values()))
        .usingRecursiveComparison()
        .ignoringFields("reason")
        .isEqualTo(nodes);
  }

  /** Compares what is counted by graph; not at each step, so that changes add up. */
  private void checkGroups(GraphFixture world, List<GraphNode> nodes) {
    if (groups == null) {
      groups = world.registry().groups(StoredGraphPropertyTest::label, "none");
    }
    if (random.nextInt(3) > 0) {
      return;
    }
    Map<NodeId, String> graphs = new HashMap<>();
    nodes.forEach(node -> graphs.put(node.id(), graph(node, nodes)));
    Map<NodeId, Long> since = world.work().readySince(nodes.stream().map(GraphNode::id).toList());
    Map<String, Map<NodeState, Long>> counts =
        nodes.stream()
            .collect(
                groupingBy(
                    node -> String.valueOf(graphs.get(node.id())),
                    groupingBy(GraphNode::state, counting())));
    Map<ReadyGroup, Long> oldest = new HashMap<>();
    for (GraphNode node : nodes) {
      Long ready = since.get(node.id());
      if (ready != null) {
        String graph = String.valueOf(graphs.get(node.id()));
        oldest.merge(new ReadyGroup(node.definition().type(), graph), ready, Math::min);
      }
      assertThat(groups.labelOf(node)).isEqualTo(graphs.get(node.id()));
    }
    GraphGroups.Load load = groups.load();
    Map<String, Map<NodeState, Long>> counted = new HashMap<>();
    load.counts()
        .forEach((graph, states) -> {
          Map<NodeState, Long> some = new HashMap<>(states);
          some.values().removeIf(count -> count == 0);
          if (!some.isEmpty()) {
            counted.put(graph, some);
          }
        });
    assertThat(counted).isEqualTo(counts);
    assertThat(load.oldestReady()).isEqualTo(oldest);
  }

  private static String label(String name) {
    return name.isEmpty() ? "" : Integer.toString(name.charAt(name.length() - 1) % 3);
  }

  private static String graph(GraphNode node, List<GraphNode> nodes) {
    if (node.definition().parents().isEmpty()) {
      return label(node.name() == null ? "" : node.name());
    }
    NodeId above = node.definition().parents().getFirst();
    return nodes.stream()
        .filter(it -> it.id().equals(above))
        .findFirst()
        .map(parent -> graph(parent, nodes))
        .orElseThrow();
  }

  private static int documents(GraphFixture world, String collection) {
    return world.store().documents(DocumentQuery.prefix(collection, "")).value().size();
  }

  private void follow(GraphFixture world) {
    try {
      if (changes == null) {
        throw new VersionLostException("it begins");
      }
      for (GraphEvent event : changes.next(Duration.ZERO)) {
        event.removed().forEach(node -> followed.remove(node.id()));
        event.changed().forEach(node -> followed.put(node.id(), node));
      }
    } catch (VersionLostException _) {
      GraphRegistry.Snapshot snapshot = world.registry().snapshot(NodeFilter.ALL);
      followed.clear();
      snapshot.nodes().forEach(node -> followed.put(node.id(), node));
      changes = world.registry().changes(snapshot.version());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void runToTheEnd(GraphFixture world) {
    for (List<NodeId> due = ready(world);
        !due.isEmpty() || !world.work().running().isEmpty();
        due = ready(world)) {
      world.work().start(due).forEach(this::started);
      world
          .work()
          .end(
              world.work().running().stream()
                  .map(item -> ended(item.node(), finished(item.node())))
                  .toList());
      check(world);
    }
    assertThat(nodes(world)).allMatch(node -> node.state().isSettled());
    assertThat(nodes(world))
        .filteredOn(node -> node.definition().kind() != Kind.GROUP)
        .filteredOn(node -> node.state() == NodeState.FINISHED)
        .allMatch(node ->
            world
                .registry()
                .data(node.id(), "result", null, 0)
                .data()
                .equals(Json.text("r" + node.phase().attempt())));
  }

  private static List<GraphNode> nodes(GraphFixture world) {
    return world.registry().snapshot(NodeFilter.ALL).nodes();
  }

  private static List<NodeId> ready(GraphFixture world) {
    List<NodeId> ids = new ArrayList<>();
    for (String type : TYPES) {
      for (GraphNode node : world.work().ready(type, 99, world.nowMillis())) {
        if (!ids.contains(node.id())) {
          ids.add(node.id());
        }
      }
    }
    return ids;
  }

  private Optional<NodeId> some(GraphFixture world) {
    List<GraphNode> all = nodes(world);
    return all.isEmpty() ? Optional.empty() : Optional.of(any(all).id());
  }

  private <T> T any(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }
}

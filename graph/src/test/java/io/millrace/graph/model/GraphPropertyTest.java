package io.millrace.graph.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.Phase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random graphs, with everything done to them at random. */
class GraphPropertyTest {
  private static final int STEPS = 600;
  private static final int MAX_NODES = 40;

  private final Drive drive = new Drive();
  private final Map<NodeId, Integer> starts = new HashMap<>();
  private Random random = new Random(0);

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
  void states_are_what_the_facts_say_and_all_comes_to_an_end(long seed) {
    random = new Random(seed);
    try {
      for (int i = 0; i < STEPS; i++) {
        step();
        check();
      }
      runToTheEnd();
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }

  private void step() {
    try {
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> add();
        case 3, 4, 5 -> start();
        case 6, 7, 8 -> end();
        case 9 -> some().ifPresent(drive::kill);
        case 10 -> some().ifPresent(drive::retry);
        default -> rearrange();
      }
    } catch (InvalidGraphException | NodeStateException e) {
      assertThat(e).hasMessageMatching(".*(node|group).*");
    }
  }

  private void add() {
    if (drive.graph.size() > MAX_NODES) {
      some().ifPresent(id -> remove(id, Removal.SUBTREE));
      return;
    }
    List<NewNode> nodes = new ArrayList<>();
    int count = 1 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      Branch branch = random.nextInt(4) == 0 ? any(Branch.values()) : null;
      NewNode.Place place =
          new NewNode.Place(refs(count, 3), refs(count, random.nextInt(2)), branch);
      nodes.add(Drive.node("n" + i, any(Kind.values()), place, random.nextInt(8) == 0));
    }
    drive.add(nodes.toArray(NewNode[]::new));
  }

  private List<NodeRef> refs(int locals, int most) {
    List<NodeRef> refs = new ArrayList<>();
    int count = random.nextInt(most + 1);
    for (int i = 0; i < count; i++) {
      NodeRef ref =
          random.nextInt(3) == 0
              ? new NodeRef.Local("n" + random.nextInt(locals))
              : some().<NodeRef>map(NodeRef.Existing::new).orElse(new NodeRef.Local("n0"));
      if (!refs.contains(ref)) {
        refs.add(ref);
      }
    }
    return refs;
  }

  private void start() {
    ids(NodeState.READY).stream()
        .skip(random.nextInt(3))
        .findFirst()
        .ifPresent(id -> {
          drive.start(id);
          starts.merge(id, 1, Integer::sum);
        });
  }

  private void end() {
    List<NodeId> running = ids(NodeState.RUNNING);
    if (!running.isEmpty()) {
      NodeId id = running.get(random.nextInt(running.size()));
      Outcome outcome =
          switch (random.nextInt(5)) {
            case 0 -> new Outcome.Failed("chance");
            case 1 -> new Outcome.Again(0, "");
            default -> new Outcome.Finished(taken(id));
          };
      drive.end(id, outcome);
    }
  }

  private @Nullable Branch taken(NodeId id) {
    boolean chooses = drive.graph.node(id).orElseThrow().definition().kind() == Kind.CONDITION;
    return chooses ? any(Branch.values()) : null;
  }

  private void rearrange() {
    NodeId id = some().orElse(null);
    if (id != null && random.nextInt(3) == 0) {
      remove(id, any(Removal.values()));
    } else if (id != null) {
      drive.move(id, refs(1, 2), refs(1, 1));
    }
  }

  /** Takes what goes away by what the rest is then said to be, and keeps all else in order. */
  private void remove(NodeId id, Removal removal) {
    Oracle before = new Oracle(drive.graph);
    drive.remove(id, removal);
    Oracle after = new Oracle(drive.graph);
    assertThat(after.ids())
        .isEqualTo(removal == Removal.SUBTREE ? before.idsWithoutBelow(id) : before.idsWithout(id));
    for (NodeId left : after.ids()) {
      if (removal == Removal.SUBTREE) {
        assertThat(after.named(left)).isEqualTo(before.named(left, after.ids()));
      } else {
        assertThat(after.workBefore(left)).isEqualTo(before.workBefore(left, id));
      }
    }
  }

  private void check() {
    Oracle oracle = new Oracle(drive.graph);
    assertThat(drive.all(GraphNode::state)).isEqualTo(oracle.states());
    Graph again = new Graph();
    again.apply(
        drive.graph.nodesAfter(0).stream()
            .<Change>map(
                node -> new Change.Added(node.id(), node.definition(), node.phase(), null, 0))
            .toList());
    assertThat(again.nodesAfter(0).stream().map(GraphNode::state))
        .isEqualTo(drive.graph.nodesAfter(0).stream().map(GraphNode::state).toList());
    assertThat(again.consequences(drive.now())).isEmpty();
    for (GraphNode node : drive.graph.nodesAfter(0)) {
      if (node.definition().kind() == Kind.GROUP && node.state() == NodeState.FINISHED) {
        assertThat(oracle.inside(node.id()))
            .allMatch(state -> state == NodeState.FINISHED || state == NodeState.SKIPPED);
      }
      if (node.phase() instanceof Phase.Running running && node.definition().kind() != Kind.GROUP) {
        assertThat(running.attempt()).isEqualTo(starts.get(node.id()));
      }
    }
  }

  private void runToTheEnd() {
    for (List<NodeId> due = due(); !due.isEmpty(); due = due()) {
      for (NodeId id : due) {
        if (drive.state(id) == NodeState.READY) {
          drive.start(id);
          starts.merge(id, 1, Integer::sum);
        }
        drive.end(id, new Outcome.Finished(taken(id)));
      }
      check();
    }
    assertThat(drive.all(GraphNode::state).values()).allMatch(NodeState::isSettled);
  }

  private List<NodeId> due() {
    List<NodeId> due = new ArrayList<>(ids(NodeState.RUNNING));
    due.addAll(ids(NodeState.READY));
    return due;
  }

  private List<NodeId> ids(NodeState state) {
    return drive.graph.nodesAfter(0).stream()
        .filter(node -> node.state() == state && node.definition().kind() != Kind.GROUP)
        .map(GraphNode::id)
        .toList();
  }

  private Optional<NodeId> some() {
    List<NodeId> all = drive.graph.nodesAfter(0).stream().map(GraphNode::id).toList();
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
  }

  private <T> T any(T[] values) {
    return values[random.nextInt(values.length)];
  }
}

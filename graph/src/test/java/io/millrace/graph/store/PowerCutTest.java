package io.millrace.graph.store;

import static io.millrace.graph.GraphForms.below;
import static io.millrace.graph.GraphForms.form;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.Outcome;
import io.millrace.graph.store.GraphSession.TransactionLimits;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions.Limits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The power goes at every operation of the disk: each change has happened whole, or not at all. */
class PowerCutTest {
  private static final TransactionLimits SMALL = new TransactionLimits(8, 100_000, 1_000);
  private static final NodeId GROUP = new NodeId(1);
  private static final NodeId MEMBER = new NodeId(2);

  @TempDir Path folder;

  private static List<NewNode> group() {
    List<NewNode> forms = new ArrayList<>();
    forms.add(form("g", "group", NewNode.Place.ROOT));
    forms.addAll(Collections.nCopies(15, form(null, "command", below("g"))));
    return forms;
  }

  /** What is done, one after the other; some of it is larger than a transaction. */
  private static final List<Consumer<GraphFixture>> STEPS =
      List.of(
          world -> world.registry().add(Caller.ANYONE, group()),
          world -> world.start(MEMBER),
          world ->
              world.end(
                  MEMBER, new Outcome.Failed("x"), Map.of("result", Json.text("1")), Map.of()),
          world -> world.registry().kill(Caller.ANYONE, List.of(GROUP), Kill.DEFAULT),
          world -> world.registry().retry(Caller.ANYONE, GROUP, null),
          world -> world.registry().rename(Caller.ANYONE, GROUP, "all", null),
          world -> world.registry().remove(Caller.ANYONE, GROUP, Removal.SUBTREE, null));

  private static List<GraphNode> facts(GraphFixture world) {
    return world.registry().snapshot(NodeFilter.ALL).nodes().stream()
        .map(node ->
            new GraphNode(
                node.id(),
                node.name(),
                node.definition(),
                node.phase(),
                node.state(),
                node.reason(),
                node.createdMillis(),
                0))
        .toList();
  }

  private GraphFixture open() {
    return new GraphFixture(folder, SMALL, Limits.defaults());
  }

  @Test
  void each_change_has_happened_whole_or_not_at_all() {
    List<List<GraphNode>> expected = new ArrayList<>(List.of(List.of()));
    try (GraphFixture world = open()) {
      for (Consumer<GraphFixture> step : STEPS) {
        step.accept(world);
        expected.add(facts(world));
      }
    }
    int done = 0;
    for (int operations = 1; done < STEPS.size(); operations++) {
      try (GraphFixture world = open()) {
        done = runUntilThePowerGoes(world, operations);
        world.crash();
        List<GraphNode> found = facts(world);
        assertThat(found)
            .as("after %s of the steps and %s operations", done, operations)
            .isIn(expected.get(done), expected.get(Math.min(done + 1, STEPS.size())));
        NodeId next = world.addOne("command");
        assertThat(found).allMatch(node -> node.id().compareTo(next) < 0);
      }
    }
  }

  /** How many steps have been answered. */
  private static int runUntilThePowerGoes(GraphFixture world, int operations) {
    world.cutPowerAfter(operations);
    int done = 0;
    try {
      for (Consumer<GraphFixture> step : STEPS) {
        step.accept(world);
        done++;
      }
    } catch (StoreException e) {
      assertThat(e).hasMessageNotContaining("refused");
    }
    return done;
  }
}

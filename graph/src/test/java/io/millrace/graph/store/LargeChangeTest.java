package io.millrace.graph.store;

import static io.millrace.graph.GraphForms.below;
import static io.millrace.graph.GraphForms.form;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.store.GraphSession.TransactionLimits;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore.DocumentQuery;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes that do not fit into one transaction happen whole or not at all nevertheless. */
class LargeChangeTest {
  private static final TransactionLimits SMALL = new TransactionLimits(20, 100_000, 2_000);
  private static final int MANY = 200;

  private final GraphFixture world;

  LargeChangeTest(@TempDir Path folder) {
    world = new GraphFixture(folder, SMALL, Limits.defaults());
  }

  @AfterEach
  void end() {
    world.close();
  }

  private List<NewNode> group() {
    List<NewNode> forms = new ArrayList<>();
    forms.add(form("g", "group", NewNode.Place.ROOT));
    forms.addAll(Collections.nCopies(MANY, form(null, "command", below("g"))));
    return forms;
  }

  private List<NodeState> states() {
    return world.registry().snapshot(NodeFilter.ALL).nodes().stream()
        .map(GraphNode::state)
        .distinct()
        .toList();
  }

  private int documents() {
    int all = 0;
    for (String collection : List.of(Keys.NODES, Keys.DATA, Keys.PENDING)) {
      all += world.store().documents(DocumentQuery.prefix(collection, "")).value().size();
    }
    return all;
  }

  /** Tries a change with the line breaking ever later, until it goes through. */
  private void cutOffEverywhere(Runnable change, Runnable check) {
    int[] calls = {0};
    for (int limit = 1; ; limit++) {
      int most = limit;
      calls[0] = 0;
      world.breakLine(() -> ++calls[0] > most);
      try {
        change.run();
        world.breakLine(() -> false);
        return;
      } catch (StoreException e) {
        world.restart();
        check.run();
      }
    }
  }

  @Test
  void the_first_request_of_all_is_whole_though_another_server_opens_the_graph_meanwhile() {
    int[] calls = {0};
    StoredGraph[] other = new StoredGraph[1];
    world.breakLine(() -> {
      if (++calls[0] == 6) {
        other[0] = world.another();
      }
      return false;
    });
    calls[0] = 0;

    assertThat(world.registry().add(Caller.ANYONE, group())).hasSize(MANY + 1);

    assertThat(other[0]).isNotNull();
    world.restart();
    assertThat(world.registry().snapshot(NodeFilter.ALL).nodes()).hasSize(MANY + 1);
  }

  @Test
  void a_large_request_is_there_as_a_whole_or_leaves_nothing() {
    int[] there = {0};
    cutOffEverywhere(
        () -> {
          if (world.registry().snapshot(NodeFilter.ALL).nodes().isEmpty()) {
            var _ = world.registry().add(Caller.ANYONE, group());
          }
        },
        () -> {
          there[0] = world.registry().snapshot(NodeFilter.ALL).nodes().size();
          assertThat(there[0]).isIn(0, MANY + 1);
          assertThat(documents()).isEqualTo(2 * there[0]);
        });
    assertThat(world.registry().snapshot(NodeFilter.ALL).nodes()).hasSize(MANY + 1);
    assertThat(documents()).isEqualTo(2 * (MANY + 1));
  }

  @Test
  void a_large_group_is_killed_and_retried_and_removed_whole() {
    NodeId group = world.registry().add(Caller.ANYONE, group()).getFirst().id();
    cutOffEverywhere(
        () -> world.registry().kill(Caller.ANYONE, List.of(group), Kill.DEFAULT),
        () -> assertThat(states()).hasSizeLessThanOrEqualTo(2));
    assertThat(states()).containsExactly(NodeState.KILLED);
    cutOffEverywhere(
        () -> {
          if (world.state(group) == NodeState.KILLED) {
            var _ = world.registry().retry(Caller.ANYONE, group, null);
          }
        },
        () -> assertThat(states()).hasSizeLessThanOrEqualTo(2));
    assertThat(states()).containsExactly(NodeState.RUNNING, NodeState.READY);
    world.restart();
    assertThat(states()).containsExactly(NodeState.RUNNING, NodeState.READY);
    cutOffEverywhere(
        () -> {
          if (world.registry().node(group).isPresent()) {
            var _ = world.registry().remove(Caller.ANYONE, group, Removal.SUBTREE, null);
          }
        },
        () ->
            assertThat(world.registry().snapshot(NodeFilter.ALL).nodes().size()).isIn(0, MANY + 1));
    assertThat(documents()).isZero();
  }

  @Test
  void one_that_has_no_room_leaves_nothing_and_the_graph_goes_on(@TempDir Path folder) {
    Limits limits = Limits.defaults().withMemoryBytes(60_000);
    try (GraphFixture small = new GraphFixture(folder, SMALL, limits)) {
      NodeId first = small.addOne("command");
      assertThatThrownBy(() -> small.registry().add(Caller.ANYONE, group()))
          .isInstanceOf(GraphFullException.class);
      assertThat(small.registry().snapshot(NodeFilter.ALL).nodes()).hasSize(1);

      assertThat(small.store().documents(DocumentQuery.prefix(Keys.NODES, "")).value()).hasSize(1);

      small.finish(first);
      assertThat(small.registry().remove(Caller.ANYONE, first, Removal.LEAF, null)).isEqualTo(1);
      assertThat(small.addOne("command")).isGreaterThan(first);
    }
  }

  @Test
  void where_many_ask_at_once_those_that_have_room_get_it(@TempDir Path folder) throws Exception {
    Limits limits = Limits.defaults().withMemoryBytes(60_000);
    try (GraphFixture small = new GraphFixture(folder, SMALL, limits);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Boolean>> asked = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        boolean large = i % 2 == 0;
        asked.add(threads.submit(() -> isAdded(small, large ? group() : List.of(form("command")))));
      }
      for (int i = 0; i < 40; i++) {
        assertThat(asked.get(i).get()).isEqualTo(i % 2 == 1);
      }
      assertThat(small.registry().snapshot(NodeFilter.ALL).nodes()).hasSize(20);
    }
  }

  private static boolean isAdded(GraphFixture small, List<NewNode> forms) {
    try {
      return !small.registry().add(Caller.ANYONE, forms).isEmpty();
    } catch (GraphFullException _) {
      return false;
    }
  }
}

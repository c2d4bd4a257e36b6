package io.millrace.graph.store;

import static io.millrace.graph.GraphForms.below;
import static io.millrace.graph.GraphForms.form;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.store.GraphSession.TransactionLimits;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.work.Step;
import io.millrace.work.bulk.BulkAction;
import io.millrace.work.bulk.BulkAction.Starter;
import io.millrace.work.bulk.BulkAction.State;
import io.millrace.work.bulk.BulkActions;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

final class BulkNodesTest {
  private static final Starter STARTER = new Starter("tester", null, "127.0.0.1");

  private final Path folder;
  private GraphFixture world;
  private long seed;

  BulkNodesTest(@TempDir Path folder) {
    this.folder = folder;
    this.world = new GraphFixture(folder);
  }

  @AfterEach
  void end() {
    world.close();
  }

  private BulkActions actions() {
    return BulkActions.in(
        world.store(), List.of(world.graph().bulk()), world::now, new Random(++seed));
  }

  private static BulkOrder order(
      String action, String filter, Map<String, String> options, @Nullable Set<String> reach) {
    ObjectNode json = (ObjectNode) JsonMapper.shared().readTree(filter.replace('\'', '"'));
    return new BulkOrder("nodes", action, json, options, reach);
  }

  private BulkAction run(String action, String filter) {
    return run(order(action, filter, Map.of(), null));
  }

  private BulkAction run(BulkOrder order) {
    BulkActions actions = actions();
    String id = actions.start(order, order.filter().isEmpty(), STARTER).id();
    return await(actions, id);
  }

  private BulkAction await(BulkActions actions, String id) {
    Step runner = actions.runner((_, _) -> {});
    for (int i = 0; i < 1_000; i++) {
      runner.step(world.now());
      BulkAction action = actions.find(id).orElseThrow();
      if (action.state() != State.RUNNING) {
        return action;
      }
      world.advance(Duration.ofMillis(1));
    }
    throw new AssertionError("it does not end: " + actions.find(id));
  }

  private List<NodeId> add(int count) {
    return world
        .registry()
        .add(Caller.ANYONE, Collections.nCopies(count, form("command")), null)
        .stream()
        .map(GraphNode::id)
        .toList();
  }

  /** Adds a group with commands in it; gives its id first. */
  private List<NodeId> addGroup(int commands) {
    List<NewNode> forms =
        new ArrayList<>(Collections.nCopies(commands, form(null, "command", below("group"))));
    forms.addFirst(form("group", "group", below(new NodeId[0])));
    return world.add(forms.toArray(NewNode[]::new));
  }

  private Optional<NodeState> state(NodeId id) {
    return world.registry().node(id).map(GraphNode::state);
  }

  @Test
  void failed_nodes_below_one_are_retried() {
    NodeId top = world.addOne("command");
    NodeId failed = world.addOne("command", top);
    NodeId below = world.addOne("command", failed);
    NodeId other = world.addOne("command");
    world.finish(top);
    world.fail(failed);
    world.fail(other);

    BulkAction done =
        run("retry", "{'below': %s, 'reason': {'$contains': 'BROKE'}}".formatted(top));

    assertThat(done.total()).isEqualTo(1);
    assertThat(done.progress().done()).isEqualTo(1);
    assertThat(world.state(failed)).isEqualTo(NodeState.READY);
    assertThat(world.state(below)).isEqualTo(NodeState.INCIPIENT);
    assertThat(world.state(other)).isEqualTo(NodeState.FAILED);
  }

  @Test
  void waiting_nodes_are_killed_at_once_and_running_ones_marked() {
    List<NodeId> ids = add(450);
    var _ = world.start(ids.getFirst());

    BulkAction done = run("kill", "{}");

    assertThat(done.progress().done()).isEqualTo(450);
    assertThat(world.work().killing()).containsOnlyKeys(ids.getFirst());
    assertThat(ids.stream().skip(1).map(world::state)).containsOnly(NodeState.KILLED);
    assertThat(run("kill", "{}").total()).isZero();
  }

  @Test
  void a_group_takes_its_nodes_along() {
    List<NodeId> ids = addGroup(2);
    NodeId group = ids.getFirst();
    NodeId first = ids.get(1);
    NodeId second = ids.getLast();
    NodeId outside = world.addOne("command");

    assertThat(run("kill", "{'id': %s}".formatted(group)).progress().done()).isEqualTo(1);
    assertThat(world.state(first)).isEqualTo(NodeState.KILLED);
    assertThat(world.state(group)).isEqualTo(NodeState.KILLED);
    assertThat(world.state(outside)).isEqualTo(NodeState.READY);

    BulkAction retried = run("retry", "{'state': 'killed'}");
    assertThat(retried.total()).isEqualTo(3);
    assertThat(retried.progress().done()).isEqualTo(3);
    assertThat(world.state(second)).isEqualTo(NodeState.READY);
    assertThat(world.state(group)).isEqualTo(NodeState.RUNNING);
  }

  @Test
  void a_graph_that_has_ended_is_deleted_from_its_leaves() {
    NodeId top = world.addOne("command");
    NodeId middle = world.addOne("command", top);
    NodeId leaf = world.addOne("command", top, middle);
    List.of(top, middle, leaf).forEach(world::finish);
    NodeId running = world.addOne("command");
    var _ = world.start(running);

    BulkAction done = run("delete", "{}");

    assertThat(done.progress().done()).isEqualTo(3);
    assertThat(done.progress().skips()).isZero();
    assertThat(state(top)).isEmpty();
    assertThat(state(leaf)).isEmpty();
    assertThat(state(running)).hasValue(NodeState.RUNNING);
  }

  @Test
  void nodes_below_are_moved_or_deleted_too() {
    NodeId top = world.addOne("command");
    NodeId below = world.addOne("command", top);
    NodeId another = world.addOne("command");
    NodeId lower = world.addOne("command", another);
    world.finish(top);

    assertThat(run("delete", "{'id': '%s'}".formatted(top)).progress().done()).isEqualTo(1);
    assertThat(world.node(below).definition().parents()).isEmpty();

    var _ = run(order("delete", "{'id': %s}".formatted(another), Map.of("below", "true"), null));
    assertThat(state(lower)).isEmpty();
    assertThat(state(below)).isPresent();
  }

  @Test
  void what_cannot_be_deleted_is_left_alone_with_a_reason() {
    NodeId top = world.addOne("command");
    NodeId below = world.addOne("command", top);
    world.finish(top);
    var _ = world.start(below);

    BulkAction done =
        run(order("delete", "{'id': %s}".formatted(top), Map.of("below", "true"), null));

    assertThat(done.state()).isEqualTo(State.DONE);
    assertThat(done.progress().done()).isZero();
    assertThat(done.progress().skipped()).containsOnly(Map.entry(BulkNodes.NEEDED, 1L));
    assertThat(state(top)).isPresent();
  }

  @Test
  void a_reach_covers_its_nodes_and_those_below() {
    NodeId within = addGroup(2).get(1);
    NodeId below = world.addOne("command", within);
    NodeId other = world.addOne("command");

    BulkAction done = run(order("kill", "{}", Map.of(), Set.of(within.toString())));

    assertThat(done.progress().done()).isEqualTo(2);
    assertThat(world.state(within)).isEqualTo(NodeState.KILLED);
    assertThat(world.state(below)).isEqualTo(NodeState.KILLED);
    assertThat(world.state(other)).isEqualTo(NodeState.READY);
  }

  @Test
  void nodes_that_come_later_are_left_alone() {
    var _ = add(300);
    BulkActions actions = actions();
    String id = actions.start(order("kill", "{}", Map.of(), null), true, STARTER).id();
    world.advance(Duration.ofMillis(1));
    NodeId later = world.addOne("command");

    assertThat(await(actions, id).progress().done()).isEqualTo(300);
    assertThat(world.state(later)).isEqualTo(NodeState.READY);
  }

  @Test
  void a_node_that_changes_meanwhile_is_looked_at_again() {
    List<NodeId> ids = add(3);
    BulkActions actions = actions();
    String id =
        actions.start(order("kill", "{'state': 'ready'}", Map.of(), null), false, STARTER).id();
    var _ = world.start(ids.get(1));

    BulkAction done = await(actions, id);

    assertThat(done.total()).isEqualTo(3);
    assertThat(done.progress().done()).isEqualTo(2);
    assertThat(world.state(ids.get(1))).isEqualTo(NodeState.RUNNING);
    assertThat(world.work().killing()).isEmpty();
  }

  /** One node that changes with more others than a transaction has room for. */
  @Test
  void a_group_larger_than_a_transaction_is_killed() {
    world.close();
    world =
        new GraphFixture(
            folder.resolve("small"),
            new TransactionLimits(20, 1 << 20, 1 << 18),
            Limits.defaults());
    List<NodeId> members = addGroup(60).subList(1, 61);

    BulkAction done = run("kill", "{'type': 'group'}");

    assertThat(done.progress().done()).isEqualTo(1);
    assertThat(members.stream().map(world::state)).containsOnly(NodeState.KILLED);
    assertThat(run("retry", "{'type': 'command'}").progress().done()).isEqualTo(60);
    assertThat(members.stream().map(world::state)).containsOnly(NodeState.READY);
  }

  /** The line to the store breaks at every point in turn: each node is retried once. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 17, 22})
  void an_interrupted_action_retries_each_node_once(int calls) {
    List<NodeId> ids = add(250);
    ids.forEach(world::fail);
    BulkActions actions = actions();
    String id = actions.start(order("retry", "{}", Map.of(), null), true, STARTER).id();
    int[] left = {calls};
    world.breakLine(() -> --left[0] == 0);
    List<StoreException> broken = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      try {
        actions.runner((_, _) -> {}).step(world.now());
      } catch (StoreException e) {
        broken.add(e);
      }
      world.advance(Duration.ofSeconds(1));
    }
    world.breakLine(() -> false);

    BulkAction done = await(actions, id);

    assertThat(broken.size()).isLessThanOrEqualTo(1);
    assertThat(done.progress().done()).isEqualTo(250);
    assertThat(done.progress().skips()).isZero();
    assertThat(ids.stream().map(world::state)).containsOnly(NodeState.READY);
    world.restart();
    assertThat(ids.stream().map(world::state)).containsOnly(NodeState.READY);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          kill   | {'state': 'dead'}    | there is no state dead, only incipient, ready
          kill   | {'below': 'x'}       | below is the id of a node
          kill   | {'status': 'ready'}  | nodes have no field status
          kill   | {'created': 'x'}     | a time
          cancel | {'id': 1}            | one of retry, kill, delete
          """)
  void what_is_wrong_is_said(String action, String filter, String message) {
    BulkOrder order = order(action, filter, Map.of(), null);
    assertThatThrownBy(() -> actions().preview(order, false))
        .isInstanceOf(InvalidBulkException.class)
        .hasMessageContaining(message);
  }
}

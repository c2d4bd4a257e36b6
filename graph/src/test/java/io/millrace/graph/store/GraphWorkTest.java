package io.millrace.graph.store;

import static io.millrace.graph.GraphForms.form;
import static io.millrace.graph.GraphForms.on;
import static io.millrace.graph.GraphForms.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.Tail;
import io.millrace.graph.Caller;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphForms;
import io.millrace.graph.GraphGroups;
import io.millrace.graph.GraphGroups.ReadyGroup;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.NodeWatch;
import io.millrace.graph.Outcome;
import io.millrace.graph.Outcome.Cause;
import io.millrace.graph.Phase;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.work.Watch;
import io.millrace.work.policy.EndedAttempt;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The graph as its scheduler sees it, and what its users see of that. */
class GraphWorkTest {
  private final GraphFixture world;

  GraphWorkTest(@TempDir Path folder) {
    world = new GraphFixture(folder);
  }

  @AfterEach
  void end() {
    world.close();
  }

  private List<NodeId> ready() {
    return world.work().ready("command", 10, world.nowMillis()).stream()
        .map(GraphNode::id)
        .toList();
  }

  @Test
  void nodes_far_below_their_graph_have_none_whichever_way_they_are_counted() {
    GraphGroups groups = world.registry().groups(name -> "[" + name + "]", "far");
    List<NewNode> chain = new ArrayList<>();
    for (int level = 0; level <= GraphGroups.MAX_LEVELS + 1; level++) {
      NewNode.Place place = level == 0 ? NewNode.Place.ROOT : GraphForms.below("n" + (level - 1));
      chain.add(GraphForms.form("n" + level, "command", place));
    }
    Collections.reverse(chain);
    assertThat(groups.load().counts()).isEmpty();
    NodeId top = world.registry().add(Caller.ANYONE, chain).getLast().id();
    Map<NodeState, Long> within = Map.of(NodeState.READY, 1L, NodeState.INCIPIENT, 100L);
    Map<NodeState, Long> far = Map.of(NodeState.INCIPIENT, 1L);
    assertThat(groups.load().counts()).isEqualTo(Map.of("[]", within, "far", far));
    assertThat(groups.load().oldestReady()).containsOnlyKeys(new ReadyGroup("command", "[]"));
    world.registry().rename(Caller.ANYONE, top, "long", null);
    assertThat(groups.load().counts()).isEqualTo(Map.of("[long]", within, "far", far));
    assertThat(groups.load().oldestReady()).containsOnlyKeys(new ReadyGroup("command", "[long]"));
    world.registry().remove(Caller.ANYONE, top, GraphRegistry.Removal.SUBTREE, null);
    assertThat(groups.load().counts().values())
        .allSatisfy(states -> assertThat(states.values()).containsOnly(0L));
    assertThat(groups.load().oldestReady()).isEmpty();
  }

  @Test
  void nodes_below_one_that_moves_are_counted_in_its_new_graph() {
    GraphGroups groups = world.registry().groups(name -> name, "far");
    NodeId one = world.addOne("command");
    NodeId two = world.addOne("command");
    NodeId moved = world.addOne("command", one);
    var _ = world.addOne("command", moved);
    world.registry().rename(Caller.ANYONE, one, "one", null);
    world.registry().rename(Caller.ANYONE, two, "two", null);
    Map<NodeState, Long> alone = Map.of(NodeState.READY, 1L);
    Map<NodeState, Long> more = Map.of(NodeState.READY, 1L, NodeState.INCIPIENT, 2L);
    assertThat(groups.load().counts()).isEqualTo(Map.of("one", more, "two", alone));
    var _ = world.registry().move(Caller.ANYONE, moved, GraphForms.below(two), null);
    assertThat(groups.load().counts()).isEqualTo(Map.of("one", alone, "two", more));
  }

  @Test
  void those_come_first_that_have_been_ready_for_longest() {
    NodeId first = world.addOne("command");
    NodeId below = world.addOne("command", first);
    NodeId second = world.addOne("command");
    NodeId other = world.addOne("condition");
    NodeId group = world.addOne("group");
    world.finish(first);

    assertThat(ready()).containsExactly(second, below);
    assertThat(world.work().ready("command", 1, 0)).hasSize(1);
    assertThat(world.work().ready("condition", 10, 0))
        .extracting(GraphNode::id)
        .containsExactly(other);
    assertThat(world.work().ready("group", 10, 0)).isEmpty();
    assertThat(world.state(group)).isEqualTo(NodeState.FINISHED);
  }

  @Test
  void one_that_is_tried_again_is_ready_once_its_time_has_come() {
    NodeId id = world.addOne("command");
    var _ = world.start(id);
    long due = world.nowMillis() + 5_000;
    world.end(id, new Outcome.Again(due, ""));

    assertThat(world.node(id).reason()).isEqualTo("attempt 2 begins after 2026-01-02T03:04:10Z");
    assertThat(ready()).isEmpty();
    assertThat(world.work().nextDueMillis()).hasValue(due);
    assertThat(world.start(id)).isEmpty();
    world.restart();
    assertThat(world.work().nextDueMillis()).hasValue(due);

    world.advance(Duration.ofSeconds(5));
    assertThat(ready()).containsExactly(id);
    assertThat(world.work().nextDueMillis()).isEmpty();
    assertThat(world.start(id)).hasSize(1);
    assertThat(ready()).isEmpty();
  }

  @Test
  void what_is_not_ready_is_not_started_and_what_is_over_is_not_ended_again() {
    NodeId top = world.addOne("command");
    NodeId below = world.addOne("command", top);

    assertThat(world.start(below, new NodeId(99), top, top))
        .extracting(item -> item.node().id())
        .containsExactly(top);
    world.end(top, new Outcome.Failed("it broke"));
    world
        .work()
        .end(
            List.of(
                new GraphWork.Ended(
                    top,
                    1,
                    new Outcome.Finished(null),
                    Map.of("result", Json.text("0")),
                    Map.of())));

    assertThat(world.state(top)).isEqualTo(NodeState.FAILED);
    assertThat(world.registry().data(top, "result", null, 0).data()).isEqualTo(Json.text(""));
  }

  @Test
  void what_does_not_count_and_how_the_last_attempt_ended_is_known_after_a_restart() {
    NodeId id = world.addOne("command");
    var _ = world.start(id);
    world.end(id, new Outcome.Again(0, Cause.INTERRUPTED, "it is gone"));
    long interrupted = world.nowMillis();
    var _ = world.start(id);
    long due = world.nowMillis() + 5_000;
    world.end(id, new Outcome.Again(due, Cause.SNOOZED, "it snoozed for 5s"));
    long snoozed = world.nowMillis();

    world.restart();

    List<EndedAttempt> ended =
        List.of(
            new EndedAttempt(
                null, interrupted, interrupted, "interrupted", null, "it is gone", null),
            new EndedAttempt(null, snoozed, snoozed, "snoozed", null, "it snoozed for 5s", null));
    assertThat(world.node(id).phase())
        .isEqualTo(new Phase.Waiting(new Phase.Attempts(2, 1, 1, ended), due, "it snoozed for 5s"));
    assertThat(world.node(id).reason())
        .isEqualTo("attempt 3 begins after 2026-01-02T03:04:10Z: it snoozed for 5s");
  }

  @Test
  void attempts_that_did_not_succeed_are_remembered_with_the_end_of_their_output() {
    NodeId id = world.addOne("command");
    var _ = world.start(id);
    world.advance(Duration.ofSeconds(3));
    world
        .work()
        .end(
            List.of(
                new GraphWork.Ended(
                    id,
                    1,
                    new Outcome.Failed("exit code 3"),
                    Map.of(),
                    Map.of("stdout", Tail.of("1 of 2"), "stderr", Tail.of(" no space \n")))));
    var _ = world.registry().retry(Caller.ANYONE, id, null);
    var _ = world.start(id);
    world.end(id, new Outcome.Finished(null));

    world.restart();

    assertThat(world.node(id).phase().attempts().ended())
        .singleElement()
        .satisfies(attempt -> {
          assertThat(attempt.end()).isEqualTo("failed");
          assertThat(attempt.endedMillis() - attempt.startedMillis()).isEqualTo(3_000);
          assertThat(attempt.reason()).isEqualTo("exit code 3");
          assertThat(attempt.log()).isEqualTo("no space");
        });
  }

  @Test
  void when_a_node_is_due_is_recorded_with_the_end_of_what_is_above_it() {
    NodeId above = world.addOne("command");
    NodeId id =
        world.addOne(
            with(
                form("command", above),
                Map.of("delay", Json.text("5s"), "wait_timeout", Json.text("10s"))));
    assertThat(world.work().nextDueMillis()).isEmpty();
    var _ = world.start(above);
    world.end(above, new Outcome.Finished(null));

    world.restart();

    long due = world.nowMillis() + 5_000;
    assertThat(world.node(id).phase())
        .isEqualTo(new Phase.Waiting(Phase.Attempts.NONE, due, "", due));
    assertThat(world.node(id).reason()).isEqualTo("attempt 1 begins after 2026-01-02T03:04:10Z");
    world.registry().put(Caller.ANYONE, id, "delay", new DataWrite.Whole(Json.text("7s")), null);
    assertThat(world.work().nextDueMillis()).hasValue(due + 2_000);
    world.registry().put(Caller.ANYONE, id, "delay", new DataWrite.Whole(Json.text("0s")), null);
    assertThat(ready()).containsExactly(id);
    assertThat(world.work().nextDueMillis()).hasValue(world.nowMillis() + 10_000);
    world.advance(Duration.ofSeconds(10));
    assertThat(world.start(id)).isEmpty();
    world.work().expire(world.nowMillis() - 1);
    assertThat(world.state(id)).isEqualTo(NodeState.READY);
    world.work().expire(world.nowMillis());
    world.restart();
    assertThat(world.node(id).reason()).isEqualTo("it did not start within 10s");
    assertThat(world.work().nextDueMillis()).isEmpty();
  }

  @Test
  void what_runs_is_found_again_after_a_restart_with_what_it_reads() {
    NodeId id =
        world.addOne(
            with(form("command"), Map.of("command", Json.text("x"), "note", Json.text("y"))));
    List<NodeId> both =
        world.add(
            form("g", "group", NewNode.Place.ROOT), form(null, "command", GraphForms.below("g")));
    var _ = world.start(id);
    Kill kill = new Kill("HUP", Duration.ofMillis(1_500));
    world.registry().kill(Caller.ANYONE, List.of(id), kill);

    world.restart();

    assertThat(world.work().running())
        .containsExactly(new GraphWork.Item(world.node(id), Map.of("command", Json.text("x"))));
    assertThat(world.work().killing()).isEqualTo(Map.of(id, kill));
    assertThat(world.registry().running())
        .extracting(GraphNode::id)
        .containsExactly(id, both.getFirst());
    assertThat(ready()).containsExactly(both.getLast());
  }

  @Test
  void output_is_waited_for_where_the_attempt_is_not_found_yet() {
    NodeId id = world.addOne("command");
    var _ = world.start(id);
    AtomicInteger looks = new AtomicInteger();
    TextTail tail = new TextTail().write("long since written");
    world
        .work()
        .readOutputsFrom(
            new GraphWork.Outputs() {
              @Override
              public @Nullable Tail of(NodeId node, String key) {
                return looks.get() > 2 ? tail : null;
              }

              @Override
              public boolean isKnown(NodeId node, Duration within) {
                return looks.incrementAndGet() > 2;
              }
            });

    assertThat(world.registry().data(id, "stdout", null, 0).data())
        .isEqualTo(Json.text("long since written"));
    assertThat(looks).hasValue(3);
  }

  @Test
  void output_that_is_not_found_is_not_taken_for_none() {
    NodeId id = world.addOne("command");
    NodeId waits = world.addOne("command");
    var _ = world.start(id);
    world
        .work()
        .readOutputsFrom(
            new GraphWork.Outputs() {
              @Override
              public @Nullable Tail of(NodeId node, String key) {
                return null;
              }

              @Override
              public boolean isKnown(NodeId node, Duration within) {
                return false;
              }
            });

    assertThatThrownBy(() -> world.registry().data(id, "stdout", null, 0))
        .isInstanceOf(GraphException.class)
        .hasMessageContaining("still looked for");
    assertThat(world.registry().data(waits, "stdout", null, 0).data()).isEqualTo(Json.text(""));
  }

  @Test
  void output_is_read_while_it_grows_and_the_same_pages_after_it() {
    NodeId id = world.addOne("command");
    var _ = world.start(id);
    TextTail tail = new TextTail();
    world
        .work()
        .readOutputsFrom((node, key) -> node.equals(id) && key.equals("stdout") ? tail : null);
    GraphRegistry registry = world.registry();
    assertThat(registry.data(id, "stdout", null, 0).data()).isEqualTo(Json.text(""));

    byte[] euro = TextPages.bytes("€");
    tail.write("price: ").write(new byte[] {euro[0], euro[1]});
    DataPage page = registry.data(id, "stdout", null, 0);
    assertThat(page.data()).isEqualTo(Json.text("price: "));
    assertThat(page.growing()).isTrue();
    tail.write(new byte[] {euro[2]});
    assertThat(registry.data(id, "stdout", page.view(), 0).data()).isEqualTo(Json.text("price: €"));

    String line = "äöü€😀\n".repeat(20_000);
    tail.write(line).write(line);
    DataPage second = registry.data(id, "stdout", page.view(), 1);
    assertThat(second.next()).isEqualTo(2);
    world.end(id, new Outcome.Finished(null), Map.of(), Map.of("stdout", tail));

    StringBuilder all = new StringBuilder();
    for (Integer slot = 0; slot != null; ) {
      DataPage stored = registry.data(id, "stdout", page.view(), slot);
      all.append(stored.data().asString());
      assertThat(stored.growing()).isFalse();
      slot = stored.next();
    }
    assertThat(all).hasToString("price: €" + line + line);
    assertThat(registry.data(id, "stdout", page.view(), 1).data()).isEqualTo(second.data());
    assertThat(registry.data(id, "stdout", page.view(), 9).data()).isEqualTo(Json.text(""));
  }

  @Test
  void another_attempt_begins_with_empty_output() {
    NodeId id = world.addOne("command");
    var _ = world.start(id);
    TextTail tail = new TextTail().write("x".repeat(100_000));
    world.end(
        id,
        new Outcome.Failed("it broke"),
        Map.of("result", Json.text("1")),
        Map.of("stdout", tail));
    String view = world.registry().data(id, "stdout", null, 0).view();
    var _ = world.registry().retry(Caller.ANYONE, id, null);
    assertThat(world.registry().data(id, "result", null, 0).data()).isEqualTo(Json.text("1"));

    var _ = world.start(id);

    assertThat(world.registry().data(id, "result", null, 0).data()).isEqualTo(Json.text(""));
    assertThatThrownBy(() -> world.registry().data(id, "stdout", view, 0))
        .isInstanceOf(StaleViewException.class);
  }

  @Test
  void every_state_has_its_reason() {
    NodeId condition = world.addOne("condition");
    NodeId no = world.addOne(form(null, "command", on(Branch.ELSE, condition)));
    NodeId belowNo = world.addOne("command", no);
    NodeId group = world.addOne("group", condition);
    NodeId inside = world.addOne("command", group);
    assertThat(world.node(no).reason()).isEqualTo("waits for node " + condition);
    assertThat(world.node(inside).reason()).isEqualTo("waits for group " + group + " to start");

    var _ = world.start(condition);
    world.end(condition, new Outcome.Finished(Branch.THEN));
    assertThat(world.node(condition).reason()).isEmpty();
    assertThat(world.node(no).reason()).isEqualTo("node " + condition + " chose then");
    assertThat(world.node(belowNo).reason()).isEqualTo("node " + no + " was skipped");

    NodeId after = world.addOne(form(null, "command", GraphForms.after(group)));
    NodeId deep = world.addOne("command", after);
    assertThat(world.node(after).reason()).isEqualTo("waits for node " + group);
    world.fail(inside);
    assertThat(world.node(group).reason()).isEqualTo("1 of the nodes in it did not finish");
    assertThat(world.node(deep).reason()).isEqualTo("node " + group + " failed");
    NodeId two = world.addOne(form("command", world.addOne("command"), world.addOne("command")));
    assertThat(world.node(two).reason()).endsWith(" and others");
  }

  @Test
  void the_end_of_a_node_above_many_writes_nothing_of_those() throws Exception {
    NodeId top = world.addOne("command");
    NewNode below = form("command", top);
    List<NodeId> all = world.add(Collections.nCopies(3_000, below).toArray(NewNode[]::new));
    var _ = world.start(top);
    Interest graph = new Interest(null, Set.of(), Set.of("graph", Keys.NODES, Keys.DATA));
    try (Subscription commits = world.store().subscribe(graph)) {
      world.end(top, new Outcome.Failed("it broke"));

      assertThat(Objects.requireNonNull(commits.next(Duration.ofSeconds(10))).changes()).hasSize(2);
      assertThat(world.state(all.getLast())).isEqualTo(NodeState.BLOCKED);
    }
  }

  @Test
  void whoever_schedules_is_woken_by_every_change() {
    AtomicInteger wakes = new AtomicInteger();
    world.work().onChange(wakes::incrementAndGet);
    NodeId id = world.addOne("command");
    assertThat(wakes).hasValue(1);
    world.finish(id);
    assertThat(wakes).hasValue(3);
  }

  @Test
  void a_watch_ends_when_all_have_ended_together() throws Exception {
    NodeId top = world.addOne("command");
    NodeId below = world.addOne("command", top);
    assertThatThrownBy(
            () -> NodeWatch.begin(world.registry(), List.of(new NodeId(99)), false).close())
        .isInstanceOf(UnknownNodeException.class);
    try (Watch<NodeId, GraphNode> settled =
            NodeWatch.begin(world.registry(), List.of(top, below), true);
        Watch<NodeId, GraphNode> terminal =
            NodeWatch.begin(world.registry(), List.of(top, below), false)) {
      assertThat(settled.pending()).isPositive();
      world.fail(top);
      while (settled.pending() > 0) {
        settled.await(Duration.ofSeconds(10));
      }
      assertThat(settled.states())
          .hasEntrySatisfying(top, node -> assertThat(node.state()).isEqualTo(NodeState.FAILED));
      assertThat(settled.states())
          .hasEntrySatisfying(below, node -> assertThat(node.state()).isEqualTo(NodeState.BLOCKED));

      terminal.await(Duration.ofSeconds(10));
      assertThat(terminal.pending()).isPositive();
      var _ = world.registry().retry(Caller.ANYONE, top, null);
      world.finish(top);
      world.finish(below);
      while (terminal.pending() > 0) {
        terminal.await(Duration.ofSeconds(10));
      }
      assertThat(terminal.states().values())
          .hasSize(2)
          .extracting(GraphNode::state)
          .containsOnly(NodeState.FINISHED);
    }
  }
}

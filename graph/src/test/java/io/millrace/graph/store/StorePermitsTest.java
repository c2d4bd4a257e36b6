package io.millrace.graph.store;

import static io.millrace.graph.GraphForms.form;
import static io.millrace.graph.GraphForms.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.Explanation.Reason;
import io.millrace.work.policy.SharedLimits;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/** Nodes with limits and their permits in the store. */
class StorePermitsTest {
  private static final Owner OTHER = Owner.client(7);
  private static final int STEPS = 150;

  private final GraphFixture world;
  private Random random = new Random(0);
  private boolean broken;

  StorePermitsTest(@TempDir Path folder) {
    world = new GraphFixture(folder);
  }

  @AfterEach
  void close() {
    world.close();
  }

  private void limit(String name, int running) {
    new SharedLimits(world.store(), OTHER).put(name, new Limit(running, 0, 0));
  }

  private NodeId limited(String limits, NodeId... parents) {
    return world.addOne(with(form("command", parents), Map.of("limits", Json.text(limits))));
  }

  private NodeId limited(String key, int priority) {
    return world.addOne(
        with(
            form("command"),
            Map.of(
                "limits",
                Json.text("mail"),
                "limit_key",
                Json.text(key),
                "priority_level",
                Json.read(String.valueOf(priority).getBytes(StandardCharsets.UTF_8)))));
  }

  private void set(NodeId id, String key, @Nullable String value) {
    JsonNode json = value == null ? NullNode.getInstance() : Json.text(value);
    var _ = world.registry().put(Caller.ANYONE, id, key, new DataWrite.Whole(json), null);
  }

  private void update() {
    world.advance(Duration.ofSeconds(2));
    var _ = world.work().permits().update(world.nowMillis());
  }

  /** Claims permits for nodes that take places, and starts these nodes. */
  private List<NodeId> startAll(int room) {
    update();
    List<NodeId> permitted = world.work().permits().claim(true, room, room);
    return world.work().start(permitted).stream().map(item -> item.node().id()).toList();
  }

  private List<Task> permits() {
    List<Task> tasks = new ArrayList<>();
    for (GroupSummary group : world.store().groups().value()) {
      if (group.name().startsWith(StorePermits.PREFIX)) {
        tasks.addAll(world.store().group(GroupQuery.all(group.name())).value());
      }
    }
    return tasks;
  }

  private List<String> claimed() {
    return permits().stream().filter(Task::heldByClaim).map(task -> task.data().utf8()).toList();
  }

  private int groups() {
    int count = 0;
    for (String collection : List.of(Throttling.GROUPS, Throttling.PREFIXES)) {
      count +=
          world
              .store()
              .documents(DocumentQuery.prefix(collection, StorePermits.PREFIX))
              .value()
              .size();
    }
    return count;
  }

  /** A node of a type with a key and one of its limits. */
  private NodeId keyed(String type, String key, String limit, String value) {
    return world.addOne(
        with(form(type), Map.of("limit_key", Json.text(key), limit, Json.text(value))));
  }

  private List<Reason> reasons(NodeId id) {
    return world
        .graph()
        .limitReasons(
            world.node(id),
            _ -> true,
            usage -> Map.of("node", world.graph().sharing(usage, _ -> true)));
  }

  @Test
  void as_many_nodes_start_as_the_limit_allows_and_the_next_ones_when_they_end() {
    limit("mail", 2);
    List<NodeId> ids = List.of(limited("mail"), limited("mail"), limited("mail"));

    assertThat(world.work().ready("command", 10, world.nowMillis())).isEmpty();
    assertThat(startAll(10)).containsExactly(ids.get(0), ids.get(1));
    assertThat(world.start(ids.get(2))).isEmpty();
    assertThat(claimed()).containsExactlyInAnyOrder("1 1", "2 1");
    assertThat(world.work().permits().waiting(true)).isEqualTo(1);

    world.end(ids.get(0), new Outcome.Again(0, ""));
    assertThat(startAll(10)).containsExactly(ids.get(2));
    world.end(ids.get(1), new Outcome.Finished(null));
    assertThat(startAll(10)).containsExactly(ids.get(0));
    assertThat(claimed()).containsExactlyInAnyOrder("1 2", "3 1");
    world.end(ids.get(0), new Outcome.Finished(null));
    world.end(ids.get(2), new Outcome.Failed("it broke"));
    update();
    assertThat(permits()).isEmpty();
    assertThat(groups()).isZero();
  }

  @Test
  void a_node_needs_room_in_all_its_limits_and_shares_them_with_other_tasks_of_the_store() {
    limit("mail", 2);
    limit("scan", 1);
    world
        .store()
        .commit(
            Transaction.by(OTHER)
                .put(Throttling.ofGroup("queue"), DocumentVersion.ANY, Bytes.of("shared mail\n"))
                .add("queue", "task")
                .build())
        .done();
    var _ = world.store().claim(Claim.of(OTHER, "queue", Duration.ofDays(1))).done();
    NodeId both = limited("scan,mail");
    NodeId mail = limited("mail");
    NodeId scan = limited("scan");

    List<NodeId> started = startAll(10);
    assertThat(started).hasSizeBetween(1, 2).doesNotContainSequence(both, mail);
    if (started.contains(both)) {
      assertThat(started).containsExactly(both);
    } else {
      assertThat(started).containsExactlyInAnyOrder(mail, scan);
    }
  }

  @Test
  void the_keys_take_turns_and_of_one_key_the_highest_priority_comes_first() {
    limit("mail", 1);
    List<NodeId> ann = List.of(limited("ann", 0), limited("ann", 9), limited("ann", 0));
    NodeId bob = limited("bob", 0);
    List<NodeId> order = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      NodeId started = startAll(9).getFirst();
      order.add(started);
      world.end(started, new Outcome.Finished(null));
    }
    assertThat(order.subList(0, 2)).containsExactlyInAnyOrder(ann.get(1), bob);
    assertThat(order.subList(2, 4)).containsExactly(ann.get(0), ann.get(2));
  }

  @Test
  void a_change_while_a_node_waits_applies_at_once_and_a_running_node_keeps_its_limits() {
    limit("mail", 1);
    limit("scan", 1);
    NodeId first = limited("mail");
    NodeId second = limited("mail");
    assertThat(startAll(9)).containsExactly(first);
    assertThatThrownBy(() -> set(first, "limits", "scan"))
        .isInstanceOf(NodeStateException.class)
        .hasMessageContaining("\"limits\" of node 1 changes only while the node waits");

    set(second, "limits", "scan");
    update();
    assertThat(world.work().permits().claim(true, 9, 9)).containsExactly(second);
    // The permit that it has is one for other limits now.
    set(second, "limits", "mail");
    assertThat(world.start(second)).isEmpty();
    assertThat(startAll(9)).isEmpty();
    assertThat(claimed()).containsExactly("1 1");
    set(second, "limits", null);
    assertThat(world.node(second).definition().limits()).isEqualTo(NodeLimits.NONE);
    assertThat(world.work().ready("command", 9, world.nowMillis()))
        .extracting(GraphNode::id)
        .containsExactly(second);
  }

  @Test
  void without_a_limit_of_that_name_nothing_is_limited() {
    limit("mail", 1);
    List<NodeId> ids = List.of(limited("mail"), limited("mail"), limited("mail"));
    assertThat(startAll(9)).hasSize(1);
    limit("mail", 2);
    assertThat(startAll(9)).hasSize(1);
    var _ = new SharedLimits(world.store(), OTHER).delete("mail");
    assertThat(startAll(9)).containsExactly(ids.get(2));
  }

  @Test
  void permits_without_a_place_are_given_back() {
    limit("mail", 2);
    NodeId first = limited("mail");
    NodeId second = limited("mail");
    update();
    assertThat(world.work().permits().claim(true, 2, 2)).containsExactly(first, second);
    assertThat(world.work().permits().claim(true, 1, 0)).containsExactly(first);
    assertThat(claimed()).containsExactly("1 1");
    assertThat(world.work().permits().waiting(true)).isEqualTo(1);
    assertThat(world.work().permits().claim(true, 2, 1)).containsExactly(first, second);
    assertThat(world.start(first, second)).hasSize(2);
  }

  @Test
  void a_node_that_is_killed_removed_or_too_late_leaves_the_line() {
    limit("mail", 1);
    NodeId killed = limited("mail");
    NodeId removed = limited("mail");
    NodeId late = limited("mail");
    set(late, "wait_timeout", "1s");
    update();
    assertThat(world.work().permits().claim(true, 1, 1)).containsExactly(killed);
    world.registry().kill(Caller.ANYONE, List.of(killed), Kill.DEFAULT);
    var _ = world.registry().remove(Caller.ANYONE, removed, Removal.LEAF, null);
    assertThat(world.start(killed)).isEmpty();
    world.work().expire(world.nowMillis());
    assertThat(world.state(late)).isEqualTo(NodeState.FAILED);
    update();
    assertThat(permits()).isEmpty();
    var _ = world.registry().retry(Caller.ANYONE, killed, null);
    assertThat(startAll(9)).containsExactly(killed);
  }

  @Test
  void limits_survive_a_restart_with_the_claims_of_running_and_of_due_nodes() {
    limit("mail", 2);
    NodeId running = limited("mail");
    NodeId due = limited("mail");
    NodeId waiting = limited("mail");
    assertThat(startAll(1)).containsExactly(running);
    update();
    assertThat(world.work().permits().claim(true, 1, 1)).containsExactly(due);
    List<Task> before = permits();
    NodeLimits limits = world.node(waiting).definition().limits();

    world.restart();
    assertThat(world.node(waiting).definition().limits()).isEqualTo(limits);
    assertThat(world.start(due)).isEmpty();
    update();
    assertThat(permits()).isEqualTo(before);
    assertThat(world.work().permits().claim(true, 9, 9)).containsExactly(due);
    assertThat(world.start(due)).hasSize(1);
    world.end(running, new Outcome.Finished(null));
    world.restart();
    assertThat(startAll(9)).containsExactly(waiting);
  }

  @Test
  void what_does_not_belong_to_the_graph_is_removed_and_what_is_missing_is_put_back() {
    limit("mail", 1);
    NodeId id = limited("mail");
    update();
    Task permit = permits().getFirst();
    world
        .store()
        .commit(
            Transaction.by(OTHER)
                .delete(permit.ref())
                .add(permit.group(), "no permit")
                .add(permit.group(), "99 1")
                .build())
        .done();
    assertThat(world.work().permits().claim(true, 1, 1)).isEmpty();
    assertThat(startAll(1)).containsExactly(id);
    assertThat(permits()).hasSize(1);
    assertThat(claimed()).containsExactly("1 1");
  }

  @Test
  void why_says_which_limit_is_reached_and_by_which_nodes() {
    limit("mail", 1);
    NodeId first = limited("mail");
    assertThat(startAll(9)).containsExactly(first);
    NodeId second = limited("mail,nothing");
    update();
    assertThat(reasons(first)).isEmpty();
    Reason reason = reasons(second).getFirst();
    assertThat(reason.code()).isEqualTo("limit");
    assertThat(reason.message()).isEqualTo("the shared limit mail is reached (1 of 1 running)");
    assertThat(reason.related().kind()).isEqualTo("node");
    assertThat(reason.related().ids()).containsExactly("1");
    assertThat(world.graph().limited("mail")).isEqualTo(2);
    world.end(first, new Outcome.Finished(null));
    update();
    assertThat(reasons(second)).isEmpty();

    new SharedLimits(world.store(), OTHER).put("mail", new Limit(0, 1, 3_600_000));
    assertThat(startAll(9)).containsExactly(second);
    NodeId third = limited("mail");
    update();
    assertThat(reasons(third))
        .extracting(Reason::message)
        .containsExactly("too many nodes have started lately: at most 1/1h for shared limit mail");
  }

  @Test
  void many_limits_with_long_names_are_one_group() {
    List<String> names = new ArrayList<>();
    for (int i = 10; i < 26; i++) {
      names.add("a".repeat(62) + i);
    }
    limit(names.getLast(), 1);
    NodeId first = limited(String.join(",", names));
    NodeId second = limited(String.join(",", names.reversed()));
    assertThat(startAll(9)).containsExactly(first);
    assertThat(groups()).isEqualTo(1);
    world.restart();
    assertThat(startAll(9)).isEmpty();
    world.end(first, new Outcome.Finished(null));
    assertThat(startAll(9)).containsExactly(second);
  }

  @Test
  void a_key_runs_as_often_as_it_may_whatever_the_types_of_its_nodes() {
    List<NodeId> ann =
        List.of(
            keyed("command", "ann", "key_running", "2"),
            keyed("condition", "ann", "key_running", "2"),
            keyed("command", "ann", "key_running", "2"),
            keyed("condition", "ann", "key_running", "2"));
    NodeId bob = keyed("command", "bob", "key_running", "2");
    NodeId other = keyed("command", "ann", "key_running", "1");

    update();
    List<NodeId> conditions = world.work().permits().claim(false, 9, 9);
    assertThat(conditions).containsExactly(ann.get(1), ann.get(3));
    assertThat(world.work().start(conditions)).hasSize(2);
    assertThat(startAll(9)).containsExactlyInAnyOrder(bob, other);
    assertThat(groups()).isEqualTo(2);
    Reason reason = reasons(ann.get(2)).getFirst();
    assertThat(reason.message())
        .isEqualTo(
            "the limit of key ann in the nodes with these limits is reached (2 of 2 running)");
    assertThat(reason.related().ids()).containsExactly("2", "4");

    world.restart();
    assertThat(startAll(9)).isEmpty();
    world.end(ann.get(1), new Outcome.Finished(null));
    assertThat(startAll(9)).containsExactly(ann.get(0));
    for (NodeId id : List.of(ann.get(3), ann.get(0), bob, other)) {
      world.end(id, new Outcome.Finished(null));
    }
    assertThat(startAll(9)).containsExactly(ann.get(2));
    assertThat(groups()).isEqualTo(1);
    set(ann.get(2), "note", "free for any use");
    world.end(ann.get(2), new Outcome.Finished(null));
    update();
    assertThat(permits()).isEmpty();
    assertThat(groups()).isZero();
  }

  @Test
  void a_key_starts_as_often_as_it_may_besides_the_limits_that_it_shares() {
    limit("mail", 3);
    Map<String, JsonNode> data =
        Map.of(
            "limits", Json.text("mail"),
            "limit_key", Json.text("ann"),
            "key_starts", Json.text("2/1h"),
            "key_running", Json.text("5"));
    List<NodeId> ann = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ann.add(world.addOne(with(form("command"), data)));
    }
    assertThat(startAll(9)).containsExactly(ann.get(0), ann.get(1));
    assertThat(world.graph().limited("mail")).isEqualTo(4);
    assertThat(reasons(ann.get(3)))
        .extracting(Reason::message)
        .containsExactly("too many nodes have started lately: at most 2/1h for key ann");
    NodeId free = limited("mail");
    NodeId waiting = limited("mail");
    assertThat(startAll(9)).containsExactly(free);
    assertThat(reasons(waiting).getFirst().message()).contains("mail is reached (3 of 3 running)");
    world.end(ann.get(0), new Outcome.Finished(null));
    assertThat(startAll(9)).containsExactly(waiting);
    world.end(free, new Outcome.Finished(null));
    assertThat(startAll(9)).isEmpty();
    // With other settings it is in another line.
    set(ann.get(3), "key_starts", null);
    assertThat(startAll(9)).containsExactly(ann.get(3));
  }

  @Test
  void starts_of_a_key_count_for_their_time_although_no_node_is_left() {
    List<NodeId> first = List.of(keyed("ann"), keyed("ann"));
    assertThat(startAll(9)).isEqualTo(first);
    first.forEach(id -> world.end(id, new Outcome.Finished(null)));
    update();
    assertThat(permits()).isEmpty();
    assertThat(groups()).isZero();
    NodeId third = keyed("ann");
    assertThat(startAll(9)).isEmpty();
    NodeId bob = keyed("bob");
    assertThat(startAll(9)).containsExactly(bob);
    world.restart();
    assertThat(startAll(9)).isEmpty();
    assertThat(reasons(third).getFirst().message()).contains("at most 2/1h for key ann");
  }

  private NodeId keyed(String key) {
    return keyed("command", key, "key_starts", "2/1h");
  }

  @Test
  void bad_limits_are_refused_with_the_key_that_is_wrong() {
    refused("key_running", "1", "key_running is set, and there is no limit_key");
    refused("key_starts", "1/1s", "key_starts is set, and there is no limit_key");
    refused("limits", "a b", "limits: the name of a limit has 1 to 64 characters");
    refused("limits", "a,a", "limits");
    refused("limit_key", "ann", "limit_key is set, and there is no limits");
    refused("priority_level", "1", "priority_level is set, and there is no limits");
    assertThatThrownBy(() -> keyed("command", "ann", "key_running", "many"))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageContaining("key_running");
    assertThatThrownBy(() -> keyed("command", "ann", "key_starts", "5"))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageContaining("key_starts must be a number of starts and a time");
    NodeId id = limited("mail");
    assertThatThrownBy(() -> set(id, "limit_key", "x".repeat(513)))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessage("limit_key must have 1 to 512 bytes of UTF-8");
    assertThatThrownBy(() -> set(id, "priority_level", "high"))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageContaining("priority_level must be a whole number from 0 to 9");
  }

  private void refused(String key, String value, String message) {
    assertThatThrownBy(() -> world.addOne(with(form("command"), Map.of(key, Json.text(value)))))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageContaining(message);
  }

  /**
   * Whatever breaks: each running node with limits has a claimed permit for its attempt, so that
   * the store keeps the limits, and in the end no permit is left.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void nothing_runs_without_a_permit_and_no_permit_is_left(long seed) {
    random = new Random(seed);
    limit("one", 1);
    limit("two", 2);
    for (int i = 0; i < STEPS; i++) {
      int danger = random.nextInt(4) == 0 ? 3 : 1_000;
      world.breakLine(() -> {
        boolean breaks = random.nextInt(danger) == 0;
        broken |= breaks;
        return breaks;
      });
      try {
        act();
      } catch (InvalidGraphException | NodeStateException e) {
        assertThat(e).hasMessageContaining("node");
      } catch (RuntimeException e) {
        assertThat(broken || e instanceof StoreException).as("%s: %s", seed, e).isTrue();
      }
      world.breakLine(() -> false);
      switch (random.nextInt(30)) {
        case 0 -> world.restart();
        case 1 -> {
          world.cutPowerAfter(random.nextInt(5));
          try {
            act();
          } catch (RuntimeException e) {
            assertThat(e).isNotNull();
          }
          world.crash();
        }
        default -> {}
      }
      // Where the store was lost, this finds the graph again.
      assertThat(world.start(new NodeId(NodeId.MOST))).isEmpty();
      check(seed);
    }
    end();
    assertThat(permits()).as("seed %s", seed).isEmpty();
    assertThat(groups()).as("seed %s", seed).isZero();
  }

  private void act() {
    List<GraphNode> nodes = world.registry().snapshot(NodeFilter.ALL).nodes();
    NodeId some = nodes.isEmpty() ? null : nodes.get(random.nextInt(nodes.size())).id();
    switch (random.nextInt(10)) {
      case 0, 1 -> {
        String limits = List.of("one", "two", "one,two", "two,zero").get(random.nextInt(4));
        JsonNode key = Json.text("k" + random.nextInt(2));
        Map<String, JsonNode> data =
            random.nextInt(4) == 0
                ? Map.of()
                : random.nextBoolean()
                    ? Map.of("limits", Json.text(limits))
                    : random.nextBoolean()
                        ? Map.of("limits", Json.text(limits), "limit_key", key)
                        : Map.of(
                            "limits",
                            Json.text(limits),
                            "limit_key",
                            key,
                            "key_running",
                            Json.text("1"));
        String type = random.nextInt(3) == 0 ? "condition" : "command";
        var _ =
            world.addOne(
                with(some == null || random.nextBoolean() ? form(type) : form(type, some), data));
      }
      case 2, 3 -> update();
      case 4, 5 -> {
        update();
        boolean takingPlaces = random.nextBoolean();
        List<NodeId> permitted =
            world.work().permits().claim(takingPlaces, random.nextInt(4), random.nextInt(4));
        if (random.nextInt(4) > 0) {
          var _ = world.work().start(permitted);
        }
      }
      case 6, 7 -> {
        for (GraphNode node : nodes) {
          if (node.state() == NodeState.RUNNING && random.nextBoolean()) {
            world.end(
                node.id(),
                switch (random.nextInt(4)) {
                  case 0 -> new Outcome.Failed("chance");
                  case 1 -> new Outcome.Again(0, "");
                  default -> new Outcome.Finished(null);
                });
          }
        }
      }
      case 8 -> {
        if (some != null && random.nextBoolean()) {
          world.registry().kill(Caller.ANYONE, List.of(some), Kill.DEFAULT);
        } else if (some != null) {
          var _ = world.registry().retry(Caller.ANYONE, some, null);
        }
      }
      default -> {
        if (some != null && random.nextBoolean()) {
          set(some, "limits", random.nextBoolean() ? "one" : "two");
        } else if (some != null) {
          var _ = world.registry().remove(Caller.ANYONE, some, Removal.SUBTREE, null);
        }
      }
    }
  }

  private void check(long seed) {
    List<String> claimed = claimed();
    for (GraphNode node : world.registry().snapshot(NodeFilter.ALL).nodes()) {
      if (node.state() == NodeState.RUNNING && !node.definition().limits().isNone()) {
        assertThat(claimed).as("seed %s", seed).contains(node.id() + " " + node.phase().attempt());
      }
    }
    Map<String, Integer> running = new HashMap<>();
    for (GroupSummary group : world.store().groups().value()) {
      if (group.name().startsWith(StorePermits.PREFIX + "keys/")) {
        String limits = group.name().substring(0, group.name().lastIndexOf('/'));
        for (Task task : world.store().group(GroupQuery.all(group.name())).value()) {
          running.merge(limits + " " + task.key(), task.heldByClaim() ? 1 : 0, Integer::sum);
        }
      }
    }
    assertThat(running.values()).as("seed %s: %s", seed, running).allMatch(count -> count <= 1);
    assertThat(
            world.store().groups().value().stream()
                .filter(group -> group.name().contains("one"))
                .mapToLong(GroupSummary::claimed)
                .sum())
        .isLessThanOrEqualTo(1);
  }

  private void end() {
    for (int i = 0; i < 200; i++) {
      update();
      var _ = world.work().start(world.work().permits().claim(true, 9, 9));
      var _ = world.work().start(world.work().permits().claim(false, 9, 9));
      for (String type : List.of("command", "condition")) {
        world.work().ready(type, 99, world.nowMillis()).forEach(node -> world.start(node.id()));
      }
      List<GraphNode> running =
          world.registry().snapshot(NodeFilter.ALL).nodes().stream()
              .filter(node -> node.state() == NodeState.RUNNING)
              .toList();
      running.forEach(node -> world.end(node.id(), new Outcome.Finished(null)));
      update();
      if (running.isEmpty() && permits().isEmpty()) {
        break;
      }
    }
    assertThat(world.registry().snapshot(NodeFilter.ALL).nodes())
        .allMatch(node -> node.state().isSettled());
  }
}

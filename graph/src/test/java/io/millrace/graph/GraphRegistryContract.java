package io.millrace.graph;

import static io.millrace.graph.GraphForms.after;
import static io.millrace.graph.GraphForms.below;
import static io.millrace.graph.GraphForms.form;
import static io.millrace.graph.GraphForms.named;
import static io.millrace.graph.GraphForms.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.work.policy.UniqueKey;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.StringNode;

/** What every registry of graphs does with nodes. */
public abstract class GraphRegistryContract {
  private GraphAccess graph;

  /** An empty graph, which may use a folder. */
  protected abstract GraphAccess open(Path folder);

  @BeforeEach
  void begin(@TempDir Path folder) {
    graph = open(folder);
  }

  @AfterEach
  void end() {
    graph.close();
  }

  private GraphRegistry registry() {
    return graph.registry();
  }

  private List<NodeId> listed(NodeFilter filter) {
    return registry().nodes(filter, null).items().stream().map(GraphNode::id).toList();
  }

  @Test
  void nodes_of_one_request_name_each_other_and_get_growing_ids_in_its_order() {
    List<GraphNode> added =
        registry()
            .add(
                Caller.ANYONE,
                List.of(
                    named("join", form(null, "command", below("left", "right"))),
                    form("left", "command", NewNode.Place.ROOT),
                    form("right", "command", NewNode.Place.ROOT)));

    List<NodeId> ids = added.stream().map(GraphNode::id).toList();
    assertThat(ids).isSorted().doesNotHaveDuplicates();
    assertThat(added.getFirst().definition().parents()).isEqualTo(ids.subList(1, 3));
    assertThat(added.getFirst().name()).isEqualTo("join");
    assertThat(added)
        .extracting(GraphNode::state)
        .containsExactly(NodeState.INCIPIENT, NodeState.READY, NodeState.READY);
    assertThat(added).allMatch(node -> node.createdMillis() > 0);
    assertThat(ids).allSatisfy(id -> assertThat(added).contains(graph.node(id)));
  }

  @Test
  void a_request_is_taken_whole_or_not_at_all() {
    NewNode wrong = form("command", new NodeId(99));

    assertThatThrownBy(() -> graph.add(form("command"), wrong))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessage("new node 2: there is no node 99");

    assertThat(listed(NodeFilter.ALL)).isEmpty();
  }

  private GraphRegistry.Added addOnce(Uniqueness unique, NewNode... forms) {
    return registry().add(Caller.ANYONE, List.of(forms), unique, null);
  }

  private static Uniqueness key(String key, UniqueKey.Scope scope, @Nullable Duration period) {
    return new Uniqueness(new UniqueKey(key, List.of(), scope, period), null);
  }

  @Test
  void a_request_that_is_repeated_with_its_id_adds_nothing_whatever_became_of_the_nodes() {
    Uniqueness id = new Uniqueness(null, "r1");
    NodeId parent = graph.addOne("command");
    graph.finish(parent);
    NewNode[] forms = {
      form("a", "command", below(parent)), form("b", "command", below("a")),
    };
    GraphRegistry.Added first = addOnce(id, forms);
    assertThat(first.duplicate()).isFalse();
    assertThat(first.nodes()).extracting(GraphNode::id).isEqualTo(first.ids());
    assertThat(first.ids()).hasSize(2);

    graph.finish(first.ids().getFirst());
    graph.finish(first.ids().getLast());
    registry().remove(Caller.ANYONE, first.ids().getLast(), Removal.LEAF, null);
    GraphRegistry.Added again =
        registry().add(Caller.ANYONE, List.of(forms), id, registry().version() - 1);

    assertThat(again.duplicate()).isTrue();
    assertThat(again.ids()).isEqualTo(first.ids());
    assertThat(again.nodes()).extracting(GraphNode::id).containsExactly(first.ids().getFirst());
    assertThat(addOnce(new Uniqueness(null, "r2"), form("command")).duplicate()).isFalse();
  }

  @Test
  void the_nodes_of_a_request_hold_its_key_until_all_of_them_have_settled() {
    Uniqueness key = key("k", UniqueKey.Scope.UNFINISHED, null);
    NewNode[] forms = {form("a", "command", NewNode.Place.ROOT), form("b", "command", below("a"))};
    GraphRegistry.Added first = addOnce(key, forms);
    graph.finish(first.ids().getFirst());
    GraphRegistry.Added second = addOnce(key, form("command"));
    assertThat(second.duplicate()).isTrue();
    assertThat(second.ids()).isEqualTo(first.ids());
    assertThat(second.nodes())
        .extracting(GraphNode::state)
        .containsExactly(NodeState.FINISHED, NodeState.READY);

    graph.finish(first.ids().getLast());
    GraphRegistry.Added third = addOnce(key, forms);
    assertThat(third.duplicate()).isFalse();

    // What is below a failed node is blocked and does not hold the key.
    graph.fail(third.ids().getFirst());
    assertThat(addOnce(key, forms).duplicate()).isFalse();
    assertThat(addOnce(key("other", UniqueKey.Scope.UNFINISHED, null), forms).duplicate())
        .isFalse();
  }

  @Test
  void the_values_of_fields_of_all_nodes_can_make_the_key() {
    UniqueKey customer = new UniqueKey(null, List.of("customer"), UniqueKey.Scope.UNFINISHED, null);
    Uniqueness fields = new Uniqueness(customer, null);
    NewNode one = with(form("command"), Map.of("customer", StringNode.valueOf("one")));
    NewNode two = with(form("command"), Map.of("customer", StringNode.valueOf("two")));
    NewNode noted =
        with(
            form("command"),
            Map.of("customer", StringNode.valueOf("one"), "note", StringNode.valueOf("other")));
    List<NodeId> first = addOnce(fields, one, two).ids();
    assertThat(addOnce(fields, noted, two).ids()).isEqualTo(first);
    assertThat(addOnce(fields, two, one).duplicate()).isFalse();
    assertThat(addOnce(fields, one).duplicate()).isFalse();
    UniqueKey unset = new UniqueKey(null, List.of("note"), UniqueKey.Scope.UNFINISHED, null);
    assertThatThrownBy(() -> addOnce(new Uniqueness(unset, null), one))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageContaining("no node has the unique field \"note\"");
  }

  @Test
  void a_key_can_be_held_until_the_first_node_starts_or_for_a_period() {
    Uniqueness queued = key("k", UniqueKey.Scope.QUEUED, null);
    NodeId first = addOnce(queued, form("command")).ids().getFirst();
    assertThat(addOnce(queued, form("command")).ids()).containsExactly(first);
    var _ = graph.start(first);
    assertThat(addOnce(queued, form("command")).duplicate()).isFalse();

    Uniqueness day = key("day", UniqueKey.Scope.UNFINISHED, Duration.ofDays(1));
    NodeId once = addOnce(day, form("command")).ids().getFirst();
    graph.finish(once);
    registry().remove(Caller.ANYONE, once, Removal.LEAF, null);
    GraphRegistry.Added again = addOnce(day, form("command"));
    assertThat(again.ids()).containsExactly(once);
    assertThat(again.nodes()).isEmpty();
  }

  @Test
  void what_is_wrong_with_a_node_is_said() {
    NewNode command = form("command");
    assertWrong(form("commando"), "there is no type \"commando\"; there are [command, ");
    assertWrong(
        with(command, Map.of("no key", StringNode.valueOf(""))), "\"no key\" is no key of data");
    assertWrong(
        with(command, Map.of("stdout", StringNode.valueOf(""))), "written by the node itself");
    assertWrong(
        with(command, Map.of("command", JsonNodeFactory.instance.objectNode())),
        "\"command\" is a text");
    assertWrong(
        with(command, Map.of("stdin", StringNode.valueOf("x".repeat(1 << 20)))), "\"stdin\" has");
    assertWrong(named("x".repeat(129), command), "a name has 1 to 128 characters, not 129");
    assertWrong(with(command, Map.of("deep", nested(101))), "more than 100 levels");
    assertThatThrownBy(() -> registry().add(Caller.ANYONE, Collections.nCopies(10_001, command)))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageContaining("10001 nodes are too many");
    assertThat(listed(NodeFilter.ALL)).isEmpty();
  }

  private static JsonNode nested(int levels) {
    ArrayNode outer = JsonNodeFactory.instance.objectNode().putArray("list");
    ArrayNode inner = outer;
    for (int i = 1; i < levels; i++) {
      inner = inner.addArray();
    }
    return outer;
  }

  private void assertWrong(NewNode form, String message) {
    assertThatThrownBy(() -> graph.add(form("command"), form))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageStartingWith("new node 2: ")
        .hasMessageContaining(message);
  }

  @Test
  void the_id_of_a_removed_node_is_not_used_again() {
    NodeId first = graph.addOne("command");
    assertThat(registry().remove(Caller.ANYONE, first, Removal.LEAF, null)).isEqualTo(1);
    assertThat(registry().node(first)).isEmpty();
    assertThat(graph.addOne("command")).isGreaterThan(first);
  }

  @Test
  void a_node_is_removed_with_or_without_what_is_below_it() {
    NodeId top = graph.addOne("command");
    NodeId below = graph.addOne("command", top);
    NodeId apart = graph.addOne("command");

    NodeId deep = graph.addOne("command", below);
    NodeId join = graph.addOne("command", deep, apart);
    NodeId next = graph.addOne(form(null, "command", after(deep)));
    graph.fail(top);
    assertThat(graph.state(deep)).isEqualTo(NodeState.BLOCKED);

    assertThatThrownBy(() -> registry().remove(Caller.ANYONE, top, Removal.LEAF, null))
        .isInstanceOf(NodeStateException.class);
    assertThat(registry().remove(Caller.ANYONE, top, Removal.ALONE, null)).isOne();
    assertThat(graph.node(below).definition().parents()).isEmpty();
    assertThat(graph.state(below)).isEqualTo(NodeState.READY);
    assertThat(graph.state(deep)).isEqualTo(NodeState.INCIPIENT);

    assertThat(registry().remove(Caller.ANYONE, below, Removal.SUBTREE, null)).isEqualTo(2);
    assertThat(listed(NodeFilter.ALL)).containsExactly(apart, join, next);
    assertThat(graph.node(join).definition().parents()).containsExactly(apart);
    assertThat(graph.node(next).definition().after()).isEmpty();
    assertThatThrownBy(() -> registry().keys(below, null)).isInstanceOf(UnknownNodeException.class);
  }

  @Test
  void nodes_are_filtered_by_type_state_subtree_and_age() {
    NodeId top = graph.addOne("command");
    NodeId condition = graph.addOne("condition", top);
    NodeId deep = graph.addOne("command", condition);
    NodeId apart = graph.addOne("command");

    assertThat(listed(filter(Set.of("condition"), Set.of(), null, 0))).containsExactly(condition);
    assertThat(listed(filter(Set.of(), Set.of(NodeState.READY), null, 0)))
        .containsExactly(top, apart);
    assertThat(listed(filter(Set.of(), Set.of(), condition, 0))).containsExactly(condition, deep);
    assertThat(listed(filter(Set.of(), Set.of(), null, condition.value())))
        .containsExactly(deep, apart);
    assertThat(listed(filter(Set.of("command"), Set.of(NodeState.INCIPIENT), top, top.value())))
        .containsExactly(deep);
    assertThatThrownBy(() -> listed(filter(Set.of(), Set.of(), new NodeId(99), 0)))
        .isInstanceOf(UnknownNodeException.class);
  }

  @Test
  void nodes_are_found_by_a_text_in_their_names_or_in_what_they_were_given() {
    NodeId named = graph.add(named("Send the mail", form("command"))).getFirst();
    NodeId script = addWith("command", StringNode.valueOf("cat \"letter\" | sendmail -t"));
    NodeId deep = addWith("params", JsonNodeFactory.instance.objectNode().put("to", "MAIL"));
    NodeId long_ = addWith("note", StringNode.valueOf("mail" + "x".repeat(5_000)));
    NodeId key = addWith("mail", StringNode.valueOf("letter"));
    NodeId written = graph.addOne("command");
    var _ = graph.start(written);
    graph.end(
        written,
        new Outcome.Finished(null),
        Map.of("result", StringNode.valueOf("mail")),
        Map.of());

    assertThat(having("mail")).containsExactly(named, script, deep);
    assertThat(having("SEND")).containsExactly(named, script);
    assertThat(having("\"letter\" |")).containsExactly(script);
    assertThat(having("letter")).containsExactly(script, key).doesNotContain(long_);
    assertThat(having("nothing of this")).isEmpty();
    assertThat(registry().nodes(filter(Set.of(), Set.of(), deep, 0), "mail", null).items())
        .extracting(GraphNode::id)
        .containsExactly(deep);
  }

  private NodeId addWith(String key, JsonNode value) {
    return graph.add(with(form("command"), Map.of(key, value))).getFirst();
  }

  private List<NodeId> having(String text) {
    return registry().nodes(NodeFilter.ALL, text, null).items().stream()
        .map(GraphNode::id)
        .toList();
  }

  private static NodeFilter filter(
      Set<String> types, Set<NodeState> states, @Nullable NodeId below, long newerThan) {
    return new NodeFilter(types, states, below, newerThan);
  }

  @Test
  void all_pages_of_a_list_show_it_as_it_was_at_the_first_one() {
    NewNode[] forms = Collections.nCopies(2_500, form("command")).toArray(NewNode[]::new);
    List<NodeId> ids = graph.add(forms);
    Page<GraphNode> page = registry().nodes(NodeFilter.ALL, null);
    var _ = registry().remove(Caller.ANYONE, ids.getLast(), Removal.LEAF, null);
    var _ = graph.addOne("command");

    List<NodeId> seen = new ArrayList<>();
    page.items().forEach(node -> seen.add(node.id()));
    while (page.next() != null) {
      assertThat(page.items()).hasSize(1_000);
      page = registry().nodes(NodeFilter.ALL, new Page.Wanted(page.view(), page.next()));
      page.items().forEach(node -> seen.add(node.id()));
    }

    assertThat(seen).isEqualTo(ids);
    Page.Wanted unknown = new Page.Wanted("gone", "1000");
    assertThatThrownBy(() -> registry().nodes(NodeFilter.ALL, unknown))
        .isInstanceOf(StaleViewException.class);
    Page.Wanted wrong = new Page.Wanted(page.view(), "first");
    assertThatThrownBy(() -> registry().nodes(NodeFilter.ALL, wrong))
        .isInstanceOf(InvalidGraphException.class);
  }

  @Test
  void whoever_reads_pages_follows_the_graph_from_their_version_without_a_gap() throws Exception {
    NewNode[] forms = Collections.nCopies(1_500, form("command")).toArray(NewNode[]::new);
    List<NodeId> ids = graph.add(forms);
    Page<GraphNode> page = registry().nodes(NodeFilter.ALL, null);
    Map<NodeId, GraphNode> known = new TreeMap<>();
    page.items().forEach(node -> known.put(node.id(), node));
    graph.finish(ids.getFirst());
    NodeId young = graph.addOne("command", ids.getLast());
    Page<GraphNode> last =
        registry()
            .nodes(
                NodeFilter.ALL, new Page.Wanted(page.view(), Objects.requireNonNull(page.next())));
    last.items().forEach(node -> known.put(node.id(), node));
    graph.fail(ids.getLast());
    assertThat(last.version()).isEqualTo(page.version()).isLessThan(registry().version());
    assertThat(known).hasSize(ids.size());

    List<GraphEvent> events = new ArrayList<>();
    try (GraphChanges changes = registry().changes(page.version())) {
      while (events.isEmpty() || events.getLast().version() < registry().version()) {
        events.addAll(changes.next(Duration.ofSeconds(10)));
      }
    }

    assertThat(events).extracting(GraphEvent::version).isSorted().doesNotHaveDuplicates();
    assertThat(events.getFirst().version()).isGreaterThan(page.version());
    assertThat(changesOf(events, ids.getFirst())).containsExactly("running", "finished");
    assertThat(changesOf(events, young)).containsExactly("incipient", "blocked");
    events.forEach(event -> event.changed().forEach(node -> known.put(node.id(), node)));
    assertThat(List.copyOf(known.values())).isEqualTo(registry().snapshot(NodeFilter.ALL).nodes());
  }

  private static List<String> changesOf(List<GraphEvent> events, NodeId id) {
    return events.stream()
        .flatMap(event -> event.changed().stream())
        .filter(node -> node.id().equals(id))
        .map(node -> node.state().word())
        .toList();
  }

  @Test
  void nodes_are_added_to_the_graph_that_somebody_has_seen_and_killed_as_they_were() {
    NodeId id = graph.addOne("command");
    long seen = registry().nodes(NodeFilter.ALL, null).version();
    long node = graph.node(id).version();

    assertThat(registry().add(Caller.ANYONE, List.of(form("command")), seen)).hasSize(1);
    assertThatThrownBy(() -> registry().add(Caller.ANYONE, List.of(form("command")), seen))
        .isInstanceOf(VersionException.class)
        .hasMessageStartingWith("the graph has version ");
    var _ = registry().rename(Caller.ANYONE, id, "other", null);
    assertThatThrownBy(() -> registry().kill(Caller.ANYONE, List.of(id), Kill.DEFAULT, node))
        .isInstanceOf(VersionException.class);

    assertThat(listed(NodeFilter.ALL)).hasSize(2);
    assertThat(graph.state(id)).isEqualTo(NodeState.READY);
    registry().kill(Caller.ANYONE, List.of(id), Kill.DEFAULT, graph.node(id).version());
    assertThat(graph.state(id)).isEqualTo(NodeState.KILLED);
  }

  @Test
  void a_change_is_refused_where_somebody_else_was_faster() {
    NodeId id = graph.addOne("command");
    long seen = graph.node(id).version();

    GraphNode renamed = registry().rename(Caller.ANYONE, id, "one", seen);
    assertThat(renamed.name()).isEqualTo("one");
    assertThat(renamed.version()).isGreaterThan(seen);
    assertThatThrownBy(() -> registry().rename(Caller.ANYONE, id, "two", seen))
        .isInstanceOf(VersionException.class);
    assertThatThrownBy(() -> registry().remove(Caller.ANYONE, id, Removal.SUBTREE, seen))
        .isInstanceOf(VersionException.class);

    assertThat(graph.node(id)).isEqualTo(renamed);
    assertThat(registry().rename(Caller.ANYONE, id, null, null).name()).isNull();
  }

  @Test
  void a_node_that_waits_can_be_moved() {
    NodeId left = graph.addOne("command");
    NodeId right = graph.addOne("command");
    NodeId node = graph.addOne("command", left);
    graph.finish(right);

    GraphNode moved = registry().move(Caller.ANYONE, node, below(right), null);

    assertThat(moved.definition().parents()).containsExactly(right);
    assertThat(moved.state()).isEqualTo(NodeState.READY);
    assertThatThrownBy(() -> registry().move(Caller.ANYONE, right, below(node), null))
        .isInstanceOf(NodeStateException.class);
    assertThatThrownBy(() -> registry().move(Caller.ANYONE, node, below(node), null))
        .isInstanceOf(InvalidGraphException.class);
  }

  @Test
  void a_kill_ends_what_waits_at_once_and_marks_what_runs() {
    NodeId running = graph.addOne("command");
    NodeId waiting = graph.addOne("command");
    NodeId below = graph.addOne("command", running);
    var _ = graph.start(running);
    Kill gentle = new Kill("INT", Duration.ofSeconds(9));

    registry().kill(Caller.ANYONE, List.of(running, waiting), gentle);

    assertThat(graph.state(waiting)).isEqualTo(NodeState.KILLED);
    assertThat(graph.node(running).reason()).isEqualTo("it is being killed");
    assertThat(graph.work().killing()).containsExactly(Map.entry(running, gentle));
    registry().kill(Caller.ANYONE, List.of(running), Kill.DEFAULT);
    assertThat(graph.work().killing()).containsExactly(Map.entry(running, Kill.DEFAULT));

    graph.end(running, new Outcome.Killed("it was killed"));
    assertThat(graph.work().killing()).isEmpty();
    assertThat(graph.node(below).reason()).isEqualTo("node " + running + " was killed");
    assertThatThrownBy(() -> registry().kill(Caller.ANYONE, List.of(new NodeId(99)), Kill.DEFAULT))
        .isInstanceOf(UnknownNodeException.class);
  }

  @Test
  void a_failed_node_is_tried_again_when_somebody_asks_for_it() {
    NodeId id = graph.addOne("command");
    assertThatThrownBy(() -> registry().retry(Caller.ANYONE, id, null))
        .isInstanceOf(NodeStateException.class);
    graph.fail(id);
    assertThat(graph.node(id).reason()).isEqualTo("it broke");

    assertThat(registry().retry(Caller.ANYONE, id, null).state()).isEqualTo(NodeState.READY);
    graph.finish(id);

    assertThat(graph.node(id).phase().attempt()).isEqualTo(2);
  }

  @Test
  void changes_come_once_and_in_order_from_the_version_that_was_seen() throws Exception {
    NodeId top = graph.addOne("command");
    GraphRegistry.Snapshot seen = registry().snapshot(NodeFilter.ALL);
    NodeId below = graph.addOne("command", top);
    graph.finish(top);
    var _ = registry().remove(Caller.ANYONE, below, Removal.LEAF, null);

    try (GraphChanges changes = registry().changes(seen.version())) {
      List<GraphEvent> events = new ArrayList<>();
      while (events.isEmpty() || events.getLast().version() < registry().version()) {
        events.addAll(changes.next(Duration.ofSeconds(10)));
      }
      assertThat(events).extracting(GraphEvent::version).isSorted().doesNotHaveDuplicates();
      assertThat(events.getFirst().version()).isGreaterThan(seen.version());
      assertThat(events.getFirst().changed())
          .singleElement()
          .matches(node -> node.id().equals(below))
          .matches(node -> node.reason().equals("waits for node " + top));
      assertThat(events.getLast().removed())
          .singleElement()
          .matches(node -> node.id().equals(below));
    }
    long future = registry().version() + 1;
    assertThatThrownBy(() -> registry().changes(future).close())
        .isInstanceOf(VersionLostException.class);
  }
}

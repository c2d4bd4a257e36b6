package io.millrace.graph.model;

import static io.millrace.graph.GraphForms.refs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CyclesTest {
  private final Drive drive = new Drive();

  @Test
  void nodes_of_one_request_may_name_each_other_but_not_in_a_circle() {
    NewNode first = node("a", Kind.WORK, local("b"), List.of());
    NewNode second = node("b", Kind.WORK, List.of(), local("a"));

    assertThatThrownBy(() -> drive.add(first, second))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageContaining("below or after itself");
    assertThat(drive.graph.size()).isZero();
  }

  @Test
  void a_node_in_a_group_does_not_wait_for_the_group() {
    NewNode group = node("g", Kind.GROUP, List.of(), List.of());
    NewNode inside = node("n", Kind.WORK, local("g"), local("g"));

    assertThatThrownBy(() -> drive.add(group, inside))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessage("nodes would wait for themselves: new node 2 < new node 1 < new node 2");
  }

  /** Each of the groups is looked through once, not once for each group within it. */
  @Test
  @Timeout(10)
  void groups_may_be_nested_deeply() {
    List<NewNode> nodes = new ArrayList<>();
    for (int chain = 0; chain < 10; chain++) {
      for (int depth = 0; depth < 1_000; depth++) {
        List<NodeRef> parents = depth == 0 ? List.of() : local(chain + "/" + (depth - 1));
        nodes.add(node(chain + "/" + depth, Kind.GROUP, parents, List.of()));
      }
    }
    drive.add(nodes.toArray(NewNode[]::new));
    assertThat(drive.graph.size()).isEqualTo(10_000);
  }

  @Test
  void nor_for_what_waits_for_the_group() {
    NodeId gate = drive.work();
    NodeId group = drive.group(gate);
    NodeId next = drive.after(group);
    NodeId later = drive.work(next);

    assertThatThrownBy(() -> drive.add(node(null, Kind.WORK, refs(group), refs(later))))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageStartingWith("nodes would wait for themselves: ");
  }

  @Test
  void nor_do_two_groups_wait_for_each_other() {
    NodeId gate = drive.work();
    NodeId left = drive.group(gate);
    NodeId right = drive.group(gate);
    drive.add(node(null, Kind.WORK, refs(left), refs(right)));

    assertThatThrownBy(() -> drive.add(node(null, Kind.WORK, refs(right), refs(left))))
        .isInstanceOf(InvalidGraphException.class);
  }

  @Test
  void a_group_within_a_group_is_seen_through_whichever_of_its_nodes_comes_first() {
    NodeId gate = drive.work();
    NodeId outer = drive.group(gate);
    NodeId inner = drive.group(outer);
    NewNode waits = node("n", Kind.WORK, refs(outer), refs(inner));
    NewNode inside = node("m", Kind.WORK, refs(inner), local("n"));

    assertThatThrownBy(() -> drive.add(waits, inside)).isInstanceOf(InvalidGraphException.class);
  }

  @Test
  void a_node_does_not_move_below_what_is_below_it() {
    NodeId top = drive.work();
    NodeId below = drive.work(top);
    NodeId after = drive.after(below);

    assertThatThrownBy(() -> drive.move(top, List.of(), refs(after)))
        .isInstanceOf(InvalidGraphException.class);
    assertThat(drive.state(top)).isEqualTo(NodeState.READY);
  }

  @Test
  void a_long_chain_comes_in_one_request() {
    List<NewNode> chain = new ArrayList<>();
    chain.add(node("g", Kind.GROUP, List.of(), List.of()));
    chain.add(node("0", Kind.WORK, local("g"), List.of()));
    for (int i = 1; i < 20_000; i++) {
      chain.add(node("" + i, Kind.WORK, local("" + (i - 1)), List.of()));
    }

    drive.add(chain.toArray(NewNode[]::new));

    assertThat(drive.state(new NodeId(2))).isEqualTo(NodeState.READY);
    assertThat(drive.state(new NodeId(20_001))).isEqualTo(NodeState.INCIPIENT);
  }

  private static List<NodeRef> local(String name) {
    return List.of(new NodeRef.Local(name));
  }

  private static NewNode node(
      @Nullable String local, Kind kind, List<NodeRef> parents, List<NodeRef> after) {
    return Drive.node(local, kind, new NewNode.Place(parents, after, null), false);
  }
}

package io.millrace.graph.model;

import static io.millrace.graph.GraphForms.refs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What becomes of the others when nodes are removed. */
class RemovalTest {
  private final Drive drive = new Drive();

  @Test
  void what_others_are_below_is_only_removed_with_a_word_about_them() {
    NodeId top = drive.work();
    NodeId below = drive.work(top);

    assertThatThrownBy(() -> drive.remove(top, Removal.LEAF))
        .isInstanceOf(NodeStateException.class)
        .hasMessageStartingWith("node " + below + " is below node " + top + " or after it");

    drive.remove(below, Removal.LEAF);
    assertThat(drive.graph.size()).isOne();
  }

  @Test
  void what_is_below_goes_with_a_node_but_not_a_join_nor_what_merely_comes_after() {
    NodeId top = drive.work();
    NodeId other = drive.work();
    NodeId child = drive.work(top);
    NodeId diamond = drive.work(top, child);
    NodeId join = drive.work(child, other);
    NodeId next = drive.after(diamond);

    drive.remove(top, Removal.SUBTREE);

    assertThat(drive.all(GraphNode::state).keySet()).containsExactly(other, join, next);
    assertThat(parents(join)).containsExactly(other);
    assertThat(drive.state(next)).isEqualTo(NodeState.READY);
    assertThatThrownBy(() -> drive.remove(child, Removal.SUBTREE))
        .isInstanceOf(UnknownNodeException.class);
  }

  @Test
  void what_a_node_was_below_stands_in_its_place_when_it_is_removed_alone() {
    NodeId top = drive.work();
    NodeId gate = drive.work();
    NodeId middle =
        drive.addOne(Drive.node(Kind.WORK, new NewNode.Place(refs(top), refs(gate), null)));
    NodeId other = drive.work();
    NodeId join = drive.work(other, middle);
    NodeId next = drive.after(middle);
    drive.finish(top);
    drive.finish(other);
    drive.finish(gate);
    drive.fail(middle);
    assertThat(drive.state(join)).isEqualTo(NodeState.BLOCKED);

    drive.remove(middle, Removal.ALONE);

    assertThat(parents(join)).containsExactly(other, top);
    assertThat(definition(join).after()).containsExactly(gate);
    assertThat(definition(next).after()).containsExactly(top, gate);
    assertThat(drive.state(join)).isEqualTo(NodeState.READY);
    drive.remove(top, Removal.ALONE);
    assertThat(parents(join)).containsExactly(other);
    drive.remove(other, Removal.ALONE);
    assertThat(parents(join)).isEmpty();
  }

  @Test
  void nothing_is_removed_while_it_runs() {
    NodeId top = drive.work();
    NodeId below = drive.work(top);
    drive.start(top);

    for (Removal removal : List.of(Removal.ALONE, Removal.SUBTREE)) {
      assertThatThrownBy(() -> drive.remove(top, removal))
          .isInstanceOf(NodeStateException.class)
          .hasMessage("node " + top + " is running; kill it first");
    }
    drive.end(top, new Outcome.Finished(null));
    drive.start(below);

    drive.remove(top, Removal.ALONE);
    assertThat(drive.state(below)).isEqualTo(NodeState.RUNNING);
    assertThat(parents(below)).isEmpty();
  }

  @Test
  void of_a_condition_only_the_branch_that_it_chose_can_do_without_it() {
    NodeId outer = drive.condition();
    NodeId inner = drive.branch(Branch.ELSE, outer);
    NodeId condition = drive.condition(inner);
    NodeId yes = drive.branch(Branch.THEN, condition);
    NodeId no = drive.branch(Branch.ELSE, condition);
    drive.choose(outer, Branch.ELSE);
    assertThatThrownBy(() -> drive.remove(condition, Removal.ALONE))
        .isInstanceOf(NodeStateException.class)
        .hasMessage("node " + yes + " is on a branch of node " + condition + "; move it first");
    drive.finish(inner);
    drive.choose(condition, Branch.THEN);
    drive.remove(no, Removal.LEAF);

    drive.remove(condition, Removal.ALONE);

    assertThat(definition(yes).branch()).isNull();
    assertThat(drive.state(yes)).isEqualTo(NodeState.READY);
    drive.remove(inner, Removal.ALONE);
    assertThat(definition(yes).branch()).isEqualTo(Branch.ELSE);
    assertThat(drive.state(yes)).isEqualTo(NodeState.READY);
  }

  @Test
  void what_is_in_a_group_stays_where_the_group_was() {
    NodeId gate = drive.work();
    NodeId group = drive.group(gate);
    NodeId inside = drive.work(group);
    NodeId beside =
        drive.addOne(Drive.node(Kind.WORK, new NewNode.Place(refs(group), refs(inside), null)));
    NodeId next = drive.after(group);
    assertThatThrownBy(() -> drive.remove(group, Removal.ALONE))
        .isInstanceOf(NodeStateException.class)
        .hasMessage(
            "node "
                + next
                + " comes after node "
                + group
                + ", which has not finished; move it first");

    drive.remove(inside, Removal.ALONE);
    assertThat(definition(beside).after()).containsExactly(gate);
    drive.remove(next, Removal.LEAF);
    drive.remove(group, Removal.ALONE);

    assertThat(parents(beside)).containsExactly(gate);
    assertThat(drive.state(beside)).isEqualTo(NodeState.INCIPIENT);
  }

  @Test
  void nothing_comes_to_wait_for_itself_by_a_removal() {
    NodeId outside = drive.work();
    NodeId gate = drive.work();
    NodeId group = drive.group(gate);
    NodeId inside = drive.work(group);
    NodeId join =
        drive.addOne(
            Drive.node(Kind.WORK, new NewNode.Place(refs(inside, outside), refs(group), null)));

    for (Removal removal : List.of(Removal.ALONE, Removal.SUBTREE)) {
      assertThatThrownBy(() -> drive.remove(outside, removal))
          .isInstanceOf(NodeStateException.class)
          .hasMessageContaining(" would wait for itself without node " + outside);
    }
    assertThat(parents(join)).containsExactly(inside, outside);
  }

  @Test
  void what_has_failed_does_not_come_into_a_group_that_has_finished() {
    NodeId outside = drive.work();
    NodeId gate = drive.work();
    NodeId group = drive.group(gate);
    NodeId inside = drive.work(group);
    NodeId join = drive.work(inside, outside);
    drive.finish(gate);
    drive.finish(outside);
    drive.finish(inside);
    drive.fail(join);

    for (Removal removal : List.of(Removal.ALONE, Removal.SUBTREE)) {
      assertThatThrownBy(() -> drive.remove(outside, removal))
          .isInstanceOf(NodeStateException.class)
          .hasMessage(
              "node %s, which is failed, would come into group %s, which has finished",
              join, group);
    }
    assertThat(drive.state(group)).isEqualTo(NodeState.FINISHED);
  }

  private Definition definition(NodeId id) {
    return drive.graph.node(id).orElseThrow().definition();
  }

  private List<NodeId> parents(NodeId id) {
    return definition(id).parents();
  }
}

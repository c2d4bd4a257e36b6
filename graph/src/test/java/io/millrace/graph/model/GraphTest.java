package io.millrace.graph.model;

import static io.millrace.graph.GraphForms.refs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.Definition.Branch;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.Phase;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The states of nodes, and what leads from one to the other. */
class GraphTest {
  private final Drive drive = new Drive();

  @Test
  void a_node_is_ready_once_all_that_it_is_below_have_finished() {
    NodeId left = drive.work();
    NodeId right = drive.work();
    NodeId join = drive.work(left, right);

    drive.finish(left);
    assertThat(drive.state(join)).isEqualTo(NodeState.INCIPIENT);

    drive.finish(right);
    assertThat(drive.state(join)).isEqualTo(NodeState.READY);
  }

  @Test
  void what_is_below_a_failed_node_is_held_back_until_it_is_retried_and_finishes() {
    NodeId top = drive.work();
    NodeId below = drive.work(top);
    NodeId deeper = drive.work(below);

    drive.fail(top);
    assertThat(drive.state(below)).isEqualTo(NodeState.BLOCKED);
    assertThat(drive.state(deeper)).isEqualTo(NodeState.BLOCKED);

    drive.retry(top);
    assertThat(drive.state(deeper)).isEqualTo(NodeState.INCIPIENT);
    drive.finish(top);
    assertThat(drive.state(below)).isEqualTo(NodeState.READY);
    assertThat(drive.phase(top)).isInstanceOf(Phase.Ended.class);
    assertThat(drive.graph.node(top).orElseThrow().phase().attempt()).isEqualTo(2);
  }

  @Test
  void one_that_always_runs_runs_whatever_happened_above_it() {
    NodeId top = drive.work();
    NodeId below = drive.work(top);
    NodeId cleanUp = drive.always(below);
    assertThat(drive.state(cleanUp)).isEqualTo(NodeState.INCIPIENT);

    drive.fail(top);

    assertThat(drive.state(cleanUp)).isEqualTo(NodeState.READY);
  }

  @Test
  void a_condition_skips_the_other_branch_and_a_join_ignores_it() {
    NodeId condition = drive.condition();
    NodeId yes = drive.branch(Branch.THEN, condition);
    NodeId no = drive.branch(Branch.ELSE, condition);
    NodeId belowNo = drive.work(no);
    NodeId join = drive.work(yes, belowNo);

    drive.choose(condition, Branch.THEN);

    assertThat(drive.state(yes)).isEqualTo(NodeState.READY);
    assertThat(drive.state(no)).isEqualTo(NodeState.SKIPPED);
    assertThat(drive.state(belowNo)).isEqualTo(NodeState.SKIPPED);
    drive.finish(yes);
    assertThat(drive.state(join)).isEqualTo(NodeState.READY);
  }

  @Test
  void a_join_of_nothing_but_skipped_nodes_is_skipped() {
    NodeId condition = drive.condition();
    NodeId no = drive.branch(Branch.ELSE, condition);
    NodeId neither = drive.branch(Branch.ELSE, condition);
    NodeId join = drive.work(no, neither);

    drive.choose(condition, Branch.THEN);

    assertThat(drive.state(join)).isEqualTo(NodeState.SKIPPED);
  }

  @Test
  void a_group_starts_its_children_and_ends_with_the_last_of_all_that_is_in_it() {
    NodeId gate = drive.work();
    NodeId group = drive.group(gate);
    NodeId first = drive.work(group);
    NodeId second = drive.work(first);
    NodeId next = drive.after(group);
    drive.finish(gate);
    assertThat(drive.state(first)).isEqualTo(NodeState.READY);

    drive.finish(first);
    assertThat(drive.state(group)).isEqualTo(NodeState.RUNNING);

    drive.finish(second);
    assertThat(drive.state(group)).isEqualTo(NodeState.FINISHED);
    assertThat(drive.state(next)).isEqualTo(NodeState.READY);
  }

  @Test
  void a_group_fails_with_a_node_in_it_and_goes_on_when_that_is_retried() {
    NodeId gate = drive.work();
    NodeId group = drive.group(gate);
    NodeId bad = drive.work(group);
    NodeId held = drive.work(bad);
    NodeId next = drive.after(group);
    drive.finish(gate);

    drive.fail(bad);
    assertThat(drive.state(group)).isEqualTo(NodeState.FAILED);
    assertThat(drive.state(next)).isEqualTo(NodeState.BLOCKED);

    drive.retry(bad);
    assertThat(drive.state(group)).isEqualTo(NodeState.RUNNING);
    drive.finish(bad);
    drive.finish(held);
    assertThat(drive.state(next)).isEqualTo(NodeState.READY);
  }

  @Test
  void a_group_that_has_ended_takes_nothing_more() {
    NodeId group = drive.group();

    assertThat(drive.state(group)).isEqualTo(NodeState.FINISHED);
    assertThatThrownBy(() -> drive.work(group))
        .isInstanceOf(NodeStateException.class)
        .hasMessage("group " + group + " has ended");
  }

  @Test
  void nothing_comes_below_the_nodes_of_a_group_that_has_ended_either() {
    NodeId group = drive.group(drive.work());
    NodeId in = drive.work(group);
    drive.finish(drive.graph.vertex(group).definition.parents().getFirst());
    drive.finish(in);

    assertThat(drive.state(group)).isEqualTo(NodeState.FINISHED);
    assertThatThrownBy(() -> drive.work(in))
        .isInstanceOf(NodeStateException.class)
        .hasMessage("group " + group + " has ended");
  }

  @Test
  void killing_ends_what_waits_marks_what_runs_and_reaches_all_in_a_group() {
    NodeId top = drive.work();
    NodeId group = drive.group(top);
    NodeId runs = drive.work(group);
    NodeId waits = drive.work(runs);
    drive.finish(top);
    drive.start(runs);
    Phase.Running running = (Phase.Running) drive.phase(runs);
    long started = running.startedMillis();

    drive.kill(group);
    assertThat(drive.state(waits)).isEqualTo(NodeState.KILLED);
    assertThat(drive.phase(runs)).isEqualTo(new Phase.Running(Phase.Attempts.of(1), started, true));
    assertThat(drive.state(group)).isEqualTo(NodeState.RUNNING);

    drive.end(runs, new Outcome.Killed("signal TERM"));
    assertThat(drive.state(group)).isEqualTo(NodeState.KILLED);
  }

  @Test
  void one_that_is_being_killed_is_not_tried_again() {
    NodeId node = drive.work();
    drive.start(node);
    drive.kill(node);

    drive.end(node, new Outcome.Again(0, ""));

    assertThat(drive.state(node)).isEqualTo(NodeState.KILLED);
  }

  @Test
  void the_end_of_an_attempt_that_runs_no_more_is_refused() {
    NodeId node = drive.work();
    drive.start(node);
    drive.end(node, new Outcome.Again(0, ""));
    drive.start(node);

    assertThatThrownBy(() -> drive.rules.end(node, 1, new Outcome.Finished(null), null, 0))
        .isInstanceOf(NodeStateException.class)
        .hasMessage("attempt 1 of node 1 does not run");
  }

  @Test
  void one_that_is_to_wait_does_not_start_before_its_time() {
    NodeId node = drive.work();
    drive.start(node);
    drive.end(node, new Outcome.Again(1_000_000, ""));

    assertThatThrownBy(() -> drive.rules.start(node, 999_999))
        .isInstanceOf(NodeStateException.class);
    assertThat(drive.rules.start(node, 1_000_000)).hasSize(1);
  }

  @Test
  void a_node_moves_while_it_waits() {
    NodeId slow = drive.work();
    NodeId node = drive.work(slow);

    drive.move(node, List.of(), List.of());
    assertThat(drive.state(node)).isEqualTo(NodeState.READY);

    drive.start(node);
    assertThatThrownBy(() -> drive.move(node, refs(slow), List.of()))
        .isInstanceOf(NodeStateException.class)
        .hasMessage("node " + node + " is running and stays");
  }
}

package io.millrace.graph.model;

import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The rules of groups: which node belongs to which, and when a group starts and ends. */
final class Groups {
  private Groups() {}

  /**
   * The innermost group that contains all of these or is all of these; null for none.
   *
   * @param ofChildren the group of a node's children: the node itself if it is a group, otherwise
   *     the group that it is in
   * @param outer the group that a group is in
   */
  static <T> @Nullable T innermost(
      List<T> parents, Function<T, @Nullable T> ofChildren, Function<T, @Nullable T> outer) {
    SequencedSet<T> common = null;
    for (T parent : parents) {
      SequencedSet<T> around = new LinkedHashSet<>();
      for (T it = ofChildren.apply(parent); it != null; it = outer.apply(it)) {
        around.add(it);
      }
      if (common == null) {
        common = around;
      } else {
        common.retainAll(around);
      }
    }
    return common == null || common.isEmpty() ? null : common.getFirst();
  }

  static void enter(Vertex vertex, Collection<Vertex> due) {
    if (vertex.group != null) {
      vertex.group.members.add(vertex);
    }
    count(vertex, 1, due);
  }

  static void leave(Vertex vertex, Collection<Vertex> due) {
    if (vertex.group != null) {
      vertex.group.members.remove(vertex);
    }
    count(vertex, -1, due);
  }

  /**
   * Counts a node's state in its group.
   *
   * @param one 1 for its present state, -1 for a former one
   */
  static void count(Vertex vertex, int one, Collection<Vertex> due) {
    Vertex group = vertex.group;
    if (group != null) {
      group.unsettled += vertex.state.isSettled() ? 0 : one;
      group.holding += vertex.state.holds() ? one : 0;
      due.add(group);
    }
  }

  /** The next phase of a group; null if it does not change. */
  static @Nullable Phase next(Vertex group, long nowMillis) {
    return switch (group.phase) {
      case Phase.Waiting waiting -> {
        boolean mayStart = group.state == NodeState.READY;
        yield mayStart ? new Phase.Running(waiting.attempts().next(), nowMillis, false) : null;
      }
      case Phase.Running running -> group.unsettled > 0 ? null : end(group, running, nowMillis);
      // A node in it goes on: it, or the node that held it back, was retried.
      case Phase.Ended ended -> {
        boolean goesOn = ended.startedMillis() > 0 && group.unsettled > 0;
        yield goesOn ? new Phase.Running(ended.attempts(), ended.startedMillis(), false) : null;
      }
    };
  }

  private static Phase end(Vertex group, Phase.Running running, long nowMillis) {
    NodeState state =
        running.killing()
            ? NodeState.KILLED
            : group.holding > 0 ? NodeState.FAILED : NodeState.FINISHED;
    String reason =
        switch (state) {
          case KILLED -> "it was killed";
          case FAILED -> group.holding + " of the nodes in it did not finish";
          default -> "";
        };
    return new Phase.Ended(
        running.attempts(), state, reason, null, running.startedMillis(), nowMillis);
  }
}

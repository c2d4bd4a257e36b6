package io.millrace.graph.model;

import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The arithmetic of groups: who is in which, and when one starts and ends. */
final class Groups {
  private Groups() {}

  /**
   * The innermost group that all of these are in or are; null for none.
   *
   * @param ofChildren of a node: itself if it is a group, else the group that it is in
   * @param outer of a group: the group that it is in
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
   * @param one 1 for a state that it has now, -1 for one that it had
   */
  static void count(Vertex vertex, int one, Collection<Vertex> due) {
    Vertex group = vertex.group;
    if (group != null) {
      group.unsettled += vertex.state.isSettled() ? 0 : one;
      group.holding += vertex.state.holds() ? one : 0;
      due.add(group);
    }
  }

  /** What a group has to do next by itself; null for nothing. */
  static @Nullable Phase next(Vertex group, long nowMillis) {
    return switch (group.phase) {
      case Phase.Waiting waiting -> {
        boolean mayStart = group.state == NodeState.READY;
        yield mayStart ? new Phase.Running(waiting.attempt() + 1, nowMillis, false) : null;
      }
      case Phase.Running running -> group.unsettled > 0 ? null : end(group, running, nowMillis);
      // Something in it goes on: it was retried, or what held it back was.
      case Phase.Ended ended -> {
        boolean goesOn = ended.startedMillis() > 0 && group.unsettled > 0;
        yield goesOn ? new Phase.Running(ended.attempt(), ended.startedMillis(), false) : null;
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
        running.attempt(), state, reason, null, running.startedMillis(), nowMillis);
  }
}

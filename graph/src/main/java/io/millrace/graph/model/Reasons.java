package io.millrace.graph.model;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Explains the states of nodes. It remembers what it has found out, so it is valid for nodes of one
 * moment only.
 */
public final class Reasons {
  private final Function<NodeId, @Nullable GraphNode> nodes;

  /** The causes for which blocked nodes are held back. */
  private final Map<NodeId, String> causes = new HashMap<>();

  /**
   * Explains nodes of one moment.
   *
   * @param nodes all nodes, by id
   */
  public Reasons(Function<NodeId, @Nullable GraphNode> nodes) {
    this.nodes = nodes;
  }

  /** The same node with its reason. */
  public GraphNode explain(GraphNode node) {
    String reason = of(node);
    return reason.isEmpty()
        ? node
        : new GraphNode(
            node.id(),
            node.name(),
            node.definition(),
            node.phase(),
            node.state(),
            reason,
            node.createdMillis(),
            node.version());
  }

  private String of(GraphNode node) {
    return switch (node.state()) {
      case INCIPIENT -> pending(node);
      case READY -> again(node.phase());
      case RUNNING -> isKilling(node.phase()) ? "it is being killed" : "";
      case FINISHED, FAILED, KILLED -> node.phase() instanceof Phase.Ended it ? it.reason() : "";
      case SKIPPED -> skipped(node);
      case BLOCKED -> cause(node);
    };
  }

  private Stream<GraphNode> above(GraphNode node) {
    return node.definition().above().flatMap(id -> Stream.ofNullable(nodes.apply(id)));
  }

  private String pending(GraphNode node) {
    List<GraphNode> waitedFor = above(node).filter(it -> waitsFor(node, it)).limit(2).toList();
    if (waitedFor.isEmpty()) {
      return "";
    }
    GraphNode first = waitedFor.getFirst();
    boolean start = isGroup(first) && node.definition().parents().contains(first.id());
    return (start ? "waits for group " + first.id() + " to start" : "waits for node " + first.id())
        + (waitedFor.size() > 1 ? " and others" : "");
  }

  /** Whether a node waits for one of the nodes above it to start or to end. */
  public static boolean waitsFor(GraphNode node, GraphNode above) {
    boolean startIsEnough = isGroup(above) && node.definition().parents().contains(above.id());
    return !above.state().isSettled() && !(startIsEnough && Phase.hasStarted(above.phase()));
  }

  private static boolean isGroup(GraphNode node) {
    return node.definition().kind() == Kind.GROUP;
  }

  private static boolean isKilling(Phase phase) {
    return phase instanceof Phase.Running running && running.killing();
  }

  private static String again(Phase phase) {
    if (!(phase instanceof Phase.Waiting waiting)) {
      return "";
    }
    String last = waiting.reason();
    if (waiting.notBeforeMillis() == 0) {
      return last;
    }
    return "attempt %d begins after %s%s"
        .formatted(
            waiting.attempt() + 1,
            Instant.ofEpochMilli(waiting.notBeforeMillis()),
            last.isEmpty() ? "" : ": " + last);
  }

  private String skipped(GraphNode node) {
    for (GraphNode parent : above(node).toList()) {
      if (parent.phase() instanceof Phase.Ended ended
          && ended.taken() != null
          && node.definition().branch() != null
          && ended.taken() != node.definition().branch()
          && node.definition().parents().contains(parent.id())) {
        return "node " + parent.id() + " chose " + ended.taken().word();
      }
    }
    return above(node)
        .filter(it -> it.state() == NodeState.SKIPPED)
        .findFirst()
        .map(it -> "node " + it.id() + " was skipped")
        .orElse("");
  }

  /** Finds the failed or killed node above. */
  private String cause(GraphNode node) {
    List<NodeId> way = new ArrayList<>();
    GraphNode at = node;
    String cause = causes.get(node.id());
    while (cause == null) {
      way.add(at.id());
      GraphNode next = above(at).filter(it -> it.state().holds()).findFirst().orElse(null);
      if (next == null) {
        cause = "";
      } else if (next.state() == NodeState.BLOCKED) {
        cause = causes.get(next.id());
        at = next;
      } else {
        cause =
            "node " + next.id() + (next.state() == NodeState.KILLED ? " was killed" : " failed");
      }
    }
    for (NodeId id : way) {
      causes.put(id, cause);
    }
    return cause;
  }
}

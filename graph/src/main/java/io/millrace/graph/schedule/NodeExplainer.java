package io.millrace.graph.schedule;

import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.model.Reasons;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.NodeTypes;
import io.millrace.work.Explanation;
import io.millrace.work.Explanation.Reason;
import io.millrace.work.Explanation.Related;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Finds out why a node of a graph has not started yet.
 *
 * @param graph the graph
 * @param types the types of its nodes
 * @param options the limits of its scheduler
 * @param limits gives the shared limits that keep a node waiting; asked only if it is due
 */
public record NodeExplainer(
    GraphRegistry graph,
    NodeTypes types,
    SchedulerOptions options,
    Function<GraphNode, List<Reason>> limits) {
  private static final String NODE = "node";

  /** How many blocked nodes are looked at to find those that failed. */
  private static final int MAX_BLOCKED = 1_000;

  /**
   * Why a node waits.
   *
   * @param visible whether the caller may see a node; others are counted, not named
   * @param nowMillis the time in milliseconds since 1970
   */
  public Explanation explain(GraphNode node, Predicate<NodeId> visible, long nowMillis) {
    String because = node.reason().isEmpty() ? "" : ": " + node.reason();
    String state = node.state().word();
    List<Reason> reasons =
        switch (node.state()) {
          case RUNNING -> List.of(Reason.of("running", "it runs" + because));
          case FINISHED, FAILED, KILLED, SKIPPED ->
              List.of(
                  Reason.of(
                      "ended",
                      (node.state() == NodeState.SKIPPED ? "it was " : "it is ")
                          + state
                          + because));
          case INCIPIENT -> {
            List<GraphNode> above =
                above(node).stream().filter(each -> Reasons.waitsFor(node, each)).toList();
            yield List.of(related("above", "nodes above it have not ended", above, visible));
          }
          case BLOCKED ->
              List.of(
                  related(
                      "blocked",
                      "nodes above it have to be retried and to finish",
                      failed(node),
                      visible));
          case READY -> ready(node, visible, nowMillis);
        };
    boolean waiting = !node.state().isTerminal() && node.state() != NodeState.RUNNING;
    return new Explanation(NODE, node.id().toString(), state, waiting, reasons);
  }

  private List<GraphNode> above(GraphNode node) {
    return node.definition().above().flatMap(id -> graph.node(id).stream()).toList();
  }

  /** The failed and killed nodes for which a node is blocked. */
  private List<GraphNode> failed(GraphNode node) {
    List<GraphNode> failed = new ArrayList<>();
    Set<NodeId> seen = new HashSet<>();
    Deque<GraphNode> left = new ArrayDeque<>(List.of(node));
    for (GraphNode next = left.poll(); next != null; next = left.poll()) {
      for (GraphNode above : above(next)) {
        if (above.state().holds() && seen.size() < MAX_BLOCKED && seen.add(above.id())) {
          (above.state() == NodeState.BLOCKED ? left : failed).add(above);
        }
      }
    }
    return failed;
  }

  private static Reason related(
      String code, String message, List<GraphNode> nodes, Predicate<NodeId> visible) {
    List<GraphNode> named = nodes.stream().filter(node -> visible.test(node.id())).toList();
    Related related =
        Related.of(NODE, named.stream().map(node -> node.id().toString()).toList(), nodes.size());
    List<String> shown = new ArrayList<>();
    for (GraphNode node : named.subList(0, related.ids().size())) {
      shown.add(node.id() + " (" + node.state().word() + ")");
    }
    if (related.more() > 0) {
      shown.add(related.more() + " more");
    }
    return new Reason(code, message + ": " + String.join(", ", shown), related);
  }

  private List<Reason> ready(GraphNode node, Predicate<NodeId> visible, long nowMillis) {
    if (node.phase() instanceof Phase.Waiting waiting && waiting.notBeforeMillis() > nowMillis) {
      String last = waiting.reason().isEmpty() ? "" : "; its last attempt: " + waiting.reason();
      return List.of(
          Reason.of(
              "scheduled",
              "it is to start at "
                  + Instant.ofEpochMilli(waiting.notBeforeMillis())
                  + " or later"
                  + last));
    }
    List<Reason> reasons = new ArrayList<>(limits.apply(node));
    places(node, visible).ifPresent(reasons::add);
    return reasons.isEmpty()
        ? List.of(Reason.of("turn", "it is ready, and the scheduler starts it next"))
        : reasons;
  }

  private Optional<Reason> places(GraphNode node, Predicate<NodeId> visible) {
    boolean takesPlace = takesPlace(node);
    int places = takesPlace ? options.places() : options.others();
    String what = takesPlace ? "commands" : "nodes that run no command here";
    if (places == 0) {
      return Optional.of(
          Reason.of("no_places", "the scheduler is paused: it runs at most 0 " + what));
    }
    List<GraphNode> running =
        graph.running().stream().filter(each -> takesPlace(each) == takesPlace).toList();
    if (running.size() < places) {
      return Optional.empty();
    }
    List<String> named =
        running.stream().map(GraphNode::id).filter(visible).map(NodeId::toString).toList();
    return Optional.of(
        new Reason(
            "places",
            "the scheduler runs as many %s as it may (%d of %d)"
                .formatted(what, running.size(), places),
            Related.of(NODE, named, running.size())));
  }

  private boolean takesPlace(GraphNode node) {
    return types.find(node.definition().type()).filter(NodeType::takesPlace).isPresent();
  }
}

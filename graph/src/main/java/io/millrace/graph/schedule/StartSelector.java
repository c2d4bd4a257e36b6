package io.millrace.graph.schedule;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NodeId;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.NodeTypes;
import java.util.ArrayList;
import java.util.List;

/** Chooses the nodes that start next: of each type in turn, so that none delays another. */
final class StartSelector {
  /** How many nodes one transaction starts at most. */
  static final int BATCH = 256;

  private final GraphWork graph;
  private final List<NodeType> types;
  private int first;

  StartSelector(GraphWork graph, NodeTypes types) {
    this.graph = graph;
    this.types =
        types.names().stream()
            .flatMap(name -> types.find(name).stream())
            .filter(type -> type.kind() != Kind.GROUP)
            .toList();
  }

  /** Nodes to start, and whether there may be more for which there is room. */
  record Chosen(List<NodeId> ids, boolean more) {}

  /**
   * Chooses nodes.
   *
   * @param places how many places are free
   * @param others how many attempts that take no place may begin
   */
  Chosen choose(int places, int others, long nowMillis) {
    List<List<GraphNode>> commands = ready(true, Math.min(places, BATCH), nowMillis);
    List<List<GraphNode>> quiet = ready(false, Math.min(others, BATCH), nowMillis);
    List<NodeId> ids = new ArrayList<>(inTurn(commands, Math.min(places, BATCH)));
    boolean more = places > BATCH && ids.size() >= BATCH;
    List<NodeId> rest = inTurn(quiet, Math.min(others, BATCH));
    ids.addAll(rest);
    first++;
    return new Chosen(ids, more || (others > BATCH && rest.size() >= BATCH));
  }

  private List<List<GraphNode>> ready(boolean takingPlaces, int most, long nowMillis) {
    List<List<GraphNode>> ready = new ArrayList<>();
    for (int i = 0; most > 0 && i < types.size(); i++) {
      NodeType type = types.get(Math.floorMod(first + i, types.size()));
      if (type.takesPlace() == takingPlaces) {
        ready.add(graph.ready(type.name(), most, nowMillis));
      }
    }
    return ready;
  }

  private static List<NodeId> inTurn(List<List<GraphNode>> lists, int most) {
    int longest = lists.stream().mapToInt(List::size).max().orElse(0);
    List<NodeId> ids = new ArrayList<>();
    for (int i = 0; i < longest; i++) {
      for (List<GraphNode> list : lists) {
        if (i < list.size() && ids.size() < most) {
          ids.add(list.get(i).id());
        }
      }
    }
    return ids;
  }
}

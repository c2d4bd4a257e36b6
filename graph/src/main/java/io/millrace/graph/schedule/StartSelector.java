package io.millrace.graph.schedule;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.GraphWork.Permits;
import io.millrace.graph.NodeId;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.NodeTypes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Chooses the nodes that start next: of each type in turn, so that none delays another. If nodes
 * with limits and others are due, each of both gets half of the places that are free, as far as the
 * limits allow.
 */
final class StartSelector {
  /** How many nodes one transaction starts at most. */
  static final int BATCH = 256;

  private final GraphWork graph;
  private final List<NodeType> types;
  private int first;

  /** Whether nodes with limits got the odd place last, by whether they take places. */
  private final Map<Boolean, Boolean> limitedLast = new HashMap<>();

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
    List<NodeId> ids = new ArrayList<>(choose(true, Math.min(places, BATCH), nowMillis));
    boolean more = places > BATCH && ids.size() >= BATCH;
    List<NodeId> rest = choose(false, Math.min(others, BATCH), nowMillis);
    ids.addAll(rest);
    first++;
    return new Chosen(ids, more || (others > BATCH && rest.size() >= BATCH));
  }

  private List<NodeId> choose(boolean takingPlaces, int most, long nowMillis) {
    List<List<GraphNode>> ready = ready(takingPlaces, most, nowMillis);
    Permits permits = graph.permits();
    int limited = permits.waiting(takingPlaces);
    int free = ready.stream().mapToInt(List::size).sum();
    boolean last = limitedLast.getOrDefault(takingPlaces, false);
    int half = (most + (last ? 0 : 1)) / 2;
    int more = Math.min(limited, Math.max(half, most - free));
    List<NodeId> permitted = permits.claim(takingPlaces, Math.max(0, most), Math.max(0, more));
    if (permitted.isEmpty() && limited == 0) {
      return inTurn(ready, most);
    }
    List<NodeId> ids = new ArrayList<>(permitted);
    ids.addAll(inTurn(ready, most - permitted.size()));
    if (!ids.isEmpty()) {
      limitedLast.put(takingPlaces, !permitted.isEmpty());
    }
    if (ids.size() < most && limited > 0) {
      permits.await(takingPlaces);
    }
    return ids;
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

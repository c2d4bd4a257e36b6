package io.millrace.graph.store;

import io.millrace.graph.GraphGroups;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How many nodes of each graph there are in each state. A change of a node costs a look at the
 * nodes above it. A node that moves, or a graph that gets another name, takes any number of nodes
 * with it; after that all are counted again when somebody asks. For one thread at a time.
 */
final class GroupCounts {
  private final UnaryOperator<String> label;
  private final String none;
  private final Function<NodeId, @Nullable GraphNode> find;
  private final Map<String, Map<NodeState, Long>> counts = new HashMap<>();
  private boolean stale = true;

  /**
   * Nothing counted yet.
   *
   * @param label the label of the name of a graph, which is empty if it has none; always the same
   * @param none the label of nodes that are too far below their graph
   * @param find gives a node as it is now
   */
  GroupCounts(
      UnaryOperator<String> label, String none, Function<NodeId, @Nullable GraphNode> find) {
    this.label = label;
    this.none = none;
    this.find = find;
  }

  /** The label of the graph of a node. */
  String labelOf(GraphNode node) {
    GraphNode top = node;
    for (int level = 0; !isTop(top); level++) {
      GraphNode above = level == GraphGroups.MAX_LEVELS ? null : find.apply(above(top));
      if (above == null) {
        return none;
      }
      top = above;
    }
    return labelOfTop(top);
  }

  private String labelOfTop(GraphNode top) {
    return label.apply(Objects.requireNonNullElse(top.name(), ""));
  }

  private static boolean isTop(GraphNode node) {
    return node.definition().parents().isEmpty();
  }

  private static NodeId above(GraphNode node) {
    return node.definition().parents().getFirst();
  }

  /** Whether all have to be counted before {@link #counts()}. */
  boolean isStale() {
    return stale;
  }

  /** Has all counted again. */
  void forget() {
    stale = true;
  }

  /** Takes note that nodes will be removed, which can all still be found. */
  void leave(List<GraphNode> nodes) {
    if (!stale) {
      nodes.forEach(node -> add(labelOf(node), node.state(), -1));
    }
  }

  /**
   * Takes note of a node that was added or changed, after all of its change can be found.
   *
   * @param before the node before; null if it is new
   */
  void changed(@Nullable GraphNode before, GraphNode now) {
    if (before != null && !sameGraph(before, now)) {
      stale = true;
    }
    if (!stale && (before == null || before.state() != now.state())) {
      String graph = labelOf(now);
      add(graph, now.state(), 1);
      if (before != null) {
        add(graph, before.state(), -1);
      }
    }
  }

  private static boolean sameGraph(GraphNode before, GraphNode now) {
    if (isTop(before) || isTop(now)) {
      return isTop(before) && isTop(now) && Objects.equals(before.name(), now.name());
    }
    return above(before).equals(above(now));
  }

  private void add(String graph, NodeState state, long count) {
    counts
        .computeIfAbsent(graph, _ -> new EnumMap<>(NodeState.class))
        .merge(state, count, Long::sum);
  }

  /** Counts all nodes again. */
  void recount(Collection<GraphNode> nodes) {
    counts.clear();
    Map<NodeId, Place> places = new HashMap<>();
    for (GraphNode node : nodes) {
      Place place = place(node, places);
      add(place.level > GraphGroups.MAX_LEVELS ? none : place.graph, node.state(), 1);
    }
    stale = false;
  }

  /** The label of a graph, and how many levels below it a node is. */
  private record Place(String graph, int level) {}

  private Place place(GraphNode node, Map<NodeId, Place> places) {
    Deque<GraphNode> path = new ArrayDeque<>();
    GraphNode top = node;
    Place place = places.get(top.id());
    while (place == null) {
      path.push(top);
      GraphNode above = isTop(top) ? null : find.apply(above(top));
      if (above == null) {
        place = new Place(isTop(top) ? labelOfTop(top) : none, -1);
      } else {
        top = above;
        place = places.get(top.id());
      }
    }
    for (GraphNode below : path) {
      place = new Place(place.graph, place.level + 1);
      places.put(below.id(), place);
    }
    return place;
  }

  /** The counts by label. */
  Map<String, Map<NodeState, Long>> counts() {
    Map<String, Map<NodeState, Long>> copy = new HashMap<>();
    counts.forEach((graph, states) -> copy.put(graph, new EnumMap<>(states)));
    return copy;
  }
}

package io.millrace.graph.model;

import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeSet;

/** Finds the nodes that somebody wants to see. */
public final class NodeSelection {
  private final NodeFilter filter;
  private final NavigableMap<NodeId, GraphNode> all;

  /**
   * Of nodes of one moment.
   *
   * @param all all nodes
   */
  public NodeSelection(NodeFilter filter, NavigableMap<NodeId, GraphNode> all) {
    this.filter = filter;
    this.all = all;
  }

  /** In the order of their ids. */
  public List<GraphNode> nodes() {
    return candidates().stream()
        .filter(
            node -> filter.types().isEmpty() || filter.types().contains(node.definition().type()))
        .filter(node -> filter.states().isEmpty() || filter.states().contains(node.state()))
        .toList();
  }

  private Collection<GraphNode> candidates() {
    long after = filter.newerThan();
    if (after >= NodeId.MOST) {
      return List.of();
    }
    NodeId from = new NodeId(Math.max(0, after) + 1);
    NodeId below = filter.below();
    if (below == null) {
      NavigableMap<NodeId, GraphNode> tail = all.tailMap(from, true);
      return tail.values();
    }
    List<GraphNode> found = new ArrayList<>();
    for (NodeId id : below(below).tailSet(from, true)) {
      found.add(all.get(id));
    }
    return found;
  }

  private NavigableSet<NodeId> below(NodeId top) {
    Map<NodeId, List<NodeId>> children = new HashMap<>();
    for (GraphNode node : all.values()) {
      for (NodeId parent : node.definition().parents()) {
        children.computeIfAbsent(parent, _ -> new ArrayList<>()).add(node.id());
      }
    }
    TreeSet<NodeId> found = new TreeSet<>(List.of(top));
    Deque<NodeId> left = new ArrayDeque<>(found);
    for (NodeId id = left.poll(); id != null; id = left.poll()) {
      for (NodeId child : children.getOrDefault(id, List.of())) {
        if (found.add(child)) {
          left.add(child);
        }
      }
    }
    return found;
  }
}

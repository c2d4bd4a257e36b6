package io.millrace.server.graph;

import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a resumed stream tells first: events of a time of which nobody knows any more what was below
 * which node. So whatever may have been moved is told together with all that is below it now. For
 * use by one thread.
 */
final class Replay {
  private final long version;
  private final Map<NodeId, List<GraphNode>> children;

  private Replay(long version, Map<NodeId, List<GraphNode>> children) {
    this.version = version;
    this.children = children;
  }

  /** Looks at the graph as it is now, and begins the subtree with that. */
  static Replay begin(GraphRegistry graph, Subtree subtree) {
    GraphRegistry.Snapshot all = graph.snapshot(NodeFilter.ALL);
    Map<NodeId, List<GraphNode>> children = new HashMap<>();
    for (GraphNode node : all.nodes()) {
      for (NodeId parent : node.definition().parents()) {
        children.computeIfAbsent(parent, _ -> new ArrayList<>()).add(node);
      }
    }
    Replay replay = new Replay(all.version(), children);
    Set<NodeId> inside = new HashSet<>(Set.of(subtree.top()));
    replay.below(subtree.top(), inside, Set.of());
    long newest = all.nodes().isEmpty() ? 0 : all.nodes().getLast().id().value();
    subtree.begin(inside, newest);
    return replay;
  }

  /** The version up to which events are to be told so. */
  long version() {
    return version;
  }

  /** What is below these nodes at any distance and was not told yet. */
  List<GraphNode> brought(List<GraphNode> changed, Collection<NodeId> told) {
    Set<NodeId> known = new HashSet<>();
    changed.forEach(node -> known.add(node.id()));
    List<GraphNode> brought = new ArrayList<>();
    for (GraphNode node : changed) {
      if (!told.contains(node.id())) {
        brought.addAll(below(node.id(), known, told));
      }
    }
    return brought;
  }

  /** Those below a node at any distance that are not known yet, which they are then, nor told. */
  private List<GraphNode> below(NodeId top, Set<NodeId> known, Collection<NodeId> told) {
    List<GraphNode> found = new ArrayList<>();
    Deque<NodeId> left = new ArrayDeque<>(List.of(top));
    for (NodeId id = left.poll(); id != null; id = left.poll()) {
      for (GraphNode child : children.getOrDefault(id, List.of())) {
        if (!told.contains(child.id()) && known.add(child.id())) {
          found.add(child);
          left.add(child.id());
        }
      }
    }
    return found;
  }
}

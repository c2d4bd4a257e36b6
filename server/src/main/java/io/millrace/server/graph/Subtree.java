package io.millrace.server.graph;

import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Which nodes are below one, that one included, as events come. For use by one thread. */
final class Subtree {
  private final GraphRegistry graph;
  private final NodeId top;
  private final Set<NodeId> inside = new HashSet<>();

  /** The greatest id that was seen, by which new nodes are told from moved ones; 0 for none. */
  private long newest;

  Subtree(GraphRegistry graph, NodeId top) {
    this.graph = graph;
    this.top = top;
  }

  /**
   * What a move of nodes has brought with them, beside themselves.
   *
   * @param entered what is inside now and was not
   * @param left what was inside and is not any more
   */
  record Moved(List<GraphNode> entered, List<NodeId> left) {
    static final Moved NOTHING = new Moved(List.of(), List.of());
  }

  /** The node that all is below. */
  NodeId top() {
    return top;
  }

  /** What is below the top now, the top included. */
  GraphRegistry.Snapshot snapshot() {
    return graph.snapshot(new NodeFilter(Set.of(), Set.of(), top, 0));
  }

  /** Begins with these. */
  void begin(Collection<NodeId> ids, long newestId) {
    inside.addAll(ids);
    newest = newestId;
  }

  boolean contains(NodeId id) {
    return inside.contains(id);
  }

  void remove(NodeId id) {
    inside.remove(id);
  }

  /** Finds out which of these nodes are inside, and what came or went with them. */
  Moved place(List<GraphNode> changed) {
    Set<NodeId> before = null;
    boolean more = true;
    while (more) {
      more = false;
      for (GraphNode node : changed) {
        NodeId id = node.id();
        boolean is =
            id.equals(top) || node.definition().parents().stream().anyMatch(inside::contains);
        if (is != inside.contains(id)) {
          more = true;
          // Nothing can have been below a node that is new.
          if (before == null && (newest == 0 || id.value() <= newest)) {
            before = new HashSet<>(inside);
          }
          var _ = is ? inside.add(id) : inside.remove(id);
        }
      }
    }
    changed.forEach(node -> newest = Math.max(newest, node.id().value()));
    return before == null ? Moved.NOTHING : moved(before);
  }

  private Moved moved(Set<NodeId> before) {
    List<GraphNode> now = now();
    inside.clear();
    now.forEach(node -> inside.add(node.id()));
    List<GraphNode> entered = new ArrayList<>();
    now.stream().filter(node -> !before.contains(node.id())).forEach(entered::add);
    List<NodeId> left = new ArrayList<>();
    before.stream().filter(id -> !inside.contains(id)).forEach(left::add);
    return new Moved(entered, left);
  }

  private List<GraphNode> now() {
    try {
      return snapshot().nodes();
    } catch (UnknownNodeException _) {
      // It has gone since, and so has everything below it.
      return List.of();
    }
  }
}

package io.millrace.server.graph;

import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Snapshot;
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
import org.jspecify.annotations.Nullable;

/**
 * The part of a graph that one subscriber sees. A subscriber that applies all events always has
 * exactly the nodes that match the filter. For use by one thread.
 */
final class EventView {
  private final GraphRegistry graph;
  private final NodeFilter filter;
  private final @Nullable Subtree subtree;

  /** Whether the subscriber has seen an earlier part of the stream, which is unknown here. */
  private final boolean resumed;

  /** Of nodes whose place in the view may change: whether the subscriber has them. */
  private final Map<NodeId, Boolean> told = new HashMap<>();

  /**
   * The events that were passed on before the subtree was read; null if that is over, or never was.
   */
  private @Nullable Replay replay;

  /**
   * A view that has passed on nothing yet.
   *
   * @param resumed whether the subscriber continues where an earlier stream of it has ended
   */
  EventView(GraphRegistry graph, NodeFilter filter, boolean resumed) {
    this.graph = graph;
    this.filter = filter;
    this.resumed = resumed;
    this.subtree = filter.below() == null ? null : new Subtree(graph, filter.below());
    if (resumed && subtree != null) {
      replay = Replay.begin(graph, subtree);
    }
  }

  /**
   * The meaning of an event for the subscriber.
   *
   * @param changed the nodes in the view that entered it or changed
   * @param gone the nodes that left it; in a resumed stream also some that were never in it
   */
  record Seen(List<GraphNode> changed, List<NodeId> gone) {
    /** No change yet. */
    Seen() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    boolean isNothing() {
      return changed.isEmpty() && gone.isEmpty();
    }
  }

  /** The view as it is now. */
  Snapshot begin() {
    Snapshot all =
        subtree == null
            ? graph.snapshot(new NodeFilter(filter.types(), Set.of(), null, 0))
            : subtree.snapshot();
    if (subtree != null) {
      subtree.begin(all.nodes().stream().map(GraphNode::id).toList(), 0);
    }
    Seen seen = new Seen();
    all.nodes().forEach(node -> look(node, seen));
    return new Snapshot(all.version(), seen.changed());
  }

  /** Takes the next event. */
  Seen see(GraphEvent event) {
    Seen seen = new Seen();
    if (replay != null && event.version() > replay.version()) {
      replay = null;
    }
    if (replay != null) {
      replay.brought(event.changed(), told.keySet()).forEach(node -> look(node, seen));
    } else if (subtree != null) {
      Subtree.Moved moved = subtree.place(event.changed());
      moved.entered().forEach(node -> look(node, seen));
      moved.left().forEach(id -> leave(id, seen));
    }
    event.changed().forEach(node -> look(node, seen));
    for (GraphNode node : event.removed()) {
      if (subtree != null) {
        subtree.remove(node.id());
      }
      if (isOfType(node) && (!isVariable() || wasIn(told.remove(node.id())))) {
        seen.gone().add(node.id());
      }
    }
    return seen;
  }

  /** Whether a node may enter and leave the view. */
  private boolean isVariable() {
    return subtree != null || !filter.states().isEmpty();
  }

  private boolean isOfType(GraphNode node) {
    return filter.types().isEmpty() || filter.types().contains(node.definition().type());
  }

  private void look(GraphNode node, Seen seen) {
    if (!isOfType(node)) {
      return;
    }
    boolean is =
        (filter.states().isEmpty() || filter.states().contains(node.state()))
            && (subtree == null || subtree.contains(node.id()));
    if (!is) {
      leave(node.id(), seen);
      return;
    }
    seen.changed().add(node);
    if (isVariable()) {
      told.put(node.id(), true);
    }
  }

  private void leave(NodeId id, Seen seen) {
    if (wasIn(told.put(id, false))) {
      seen.gone().add(id);
    }
  }

  private boolean wasIn(@Nullable Boolean before) {
    return before == null ? resumed : before;
  }

  /** Which nodes are below one, including that node, as events come. For use by one thread. */
  private static final class Subtree {
    private final GraphRegistry graph;
    private final NodeId top;
    private final Set<NodeId> inside = new HashSet<>();

    /** The greatest id seen so far, which distinguishes new nodes from moved ones; 0 for none. */
    private long newest;

    Subtree(GraphRegistry graph, NodeId top) {
      this.graph = graph;
      this.top = top;
    }

    /**
     * The effect of a move on other nodes.
     *
     * @param entered the nodes that are inside now and were not
     * @param left the nodes that were inside and are not any more
     */
    record Moved(List<GraphNode> entered, List<NodeId> left) {
      static final Moved NOTHING = new Moved(List.of(), List.of());
    }

    NodeId top() {
      return top;
    }

    /** The nodes below the top now, including the top. */
    GraphRegistry.Snapshot snapshot() {
      return graph.snapshot(new NodeFilter(Set.of(), Set.of(), top, 0));
    }

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

    /** Finds out which of these nodes are inside, and which others entered or left with them. */
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
            // No node can have been below a new one.
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
        // It was removed since, with all nodes below it.
        return List.of();
      }
    }
  }

  /**
   * The events that a resumed stream sends first. It is unknown which nodes were below which when
   * they happened, so every node that may have been moved is sent together with all nodes below it
   * now. For use by one thread.
   */
  private record Replay(long version, Map<NodeId, List<GraphNode>> children) {
    /** Reads the graph as it is now, and begins the subtree with it. */
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

    /** The nodes below these, directly or not, that were not passed on yet. */
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

    /**
     * The nodes below one, directly or not, that are neither known nor passed on; they are known
     * then.
     */
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
}

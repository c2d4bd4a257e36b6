package io.millrace.server.graph;

import io.millrace.graph.GraphEvent;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Snapshot;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of a graph that one subscriber wants to see. Who applies what it tells always has the
 * nodes that the filter lets through, and no others. For use by one thread.
 */
final class EventView {
  private final GraphRegistry graph;
  private final NodeFilter filter;
  private final @Nullable Subtree subtree;

  /** Whether the subscriber has seen an earlier part of the stream, so that nobody knows what. */
  private final boolean resumed;

  /** Of nodes whose place in the view may change: whether the subscriber has them. */
  private final Map<NodeId, Boolean> told = new HashMap<>();

  /** What was told before the subtree was looked at; null where that is over, or never was. */
  private @Nullable Replay replay;

  /**
   * A view that has told nothing.
   *
   * @param resumed whether the subscriber goes on where an earlier stream of it has ended
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
   * What an event means for the subscriber.
   *
   * @param changed those in the view that are new in it or have changed
   * @param gone those that are not in it any more; when it was resumed also some that never were
   */
  record Seen(List<GraphNode> changed, List<NodeId> gone) {
    /** Nothing yet. */
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

  /** Whether a node may come into the view and leave it. */
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
}

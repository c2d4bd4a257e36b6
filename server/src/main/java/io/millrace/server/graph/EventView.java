package io.millrace.server.graph;

import io.millrace.graph.GraphEvent;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Snapshot;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
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

  /** Whether the subscriber has seen an earlier part of the stream, so that nobody knows what. */
  private final boolean resumed;

  /** Of nodes whose place in the view may change: whether they are in it. */
  private final Map<NodeId, Boolean> told = new HashMap<>();

  /** What is below the node of the filter, and that node; empty where it has none. */
  private final Set<NodeId> inside = new HashSet<>();

  private long newestId;

  /**
   * A view that has told nothing.
   *
   * @param resumed whether the subscriber goes on where an earlier stream of it has ended
   */
  EventView(GraphRegistry graph, NodeFilter filter, boolean resumed) {
    this.graph = graph;
    this.filter = filter;
    this.resumed = resumed;
    if (resumed && filter.below() != null) {
      everythingBelow(filter.below()).nodes().forEach(node -> inside.add(node.id()));
    }
  }

  /**
   * What an event means for the subscriber.
   *
   * @param changed those in the view that are new in it or have changed
   * @param gone those that are not in it any more; when it was resumed also some that never were
   */
  record Seen(List<GraphNode> changed, List<NodeId> gone) {
    boolean isNothing() {
      return changed.isEmpty() && gone.isEmpty();
    }
  }

  /** The view as it is now. */
  Snapshot begin() {
    NodeId below = filter.below();
    Snapshot all =
        below == null
            ? graph.snapshot(new NodeFilter(filter.types(), Set.of(), null, 0))
            : everythingBelow(below);
    List<GraphNode> shown = new ArrayList<>();
    for (GraphNode node : all.nodes()) {
      if (below != null) {
        inside.add(node.id());
      }
      if (matches(node)) {
        shown.add(node);
        if (isVariable()) {
          told.put(node.id(), true);
        }
      }
    }
    return new Snapshot(all.version(), shown);
  }

  private Snapshot everythingBelow(NodeId below) {
    return graph.snapshot(new NodeFilter(Set.of(), Set.of(), below, 0));
  }

  /** Whether a node may come into the view and leave it. */
  private boolean isVariable() {
    return filter.below() != null || !filter.states().isEmpty();
  }

  private boolean matches(GraphNode node) {
    return isOfType(node)
        && (filter.states().isEmpty() || filter.states().contains(node.state()))
        && (filter.below() == null || inside.contains(node.id()));
  }

  private boolean isOfType(GraphNode node) {
    return filter.types().isEmpty() || filter.types().contains(node.definition().type());
  }

  /** Takes the next event. */
  Seen see(GraphEvent event) {
    List<GraphNode> changed = new ArrayList<>();
    List<NodeId> gone = new ArrayList<>();
    if (filter.below() != null && place(event.changed())) {
      enterAndLeave(filter.below(), changed, gone);
    }
    for (GraphNode node : event.changed()) {
      newestId = Math.max(newestId, node.id().value());
      if (matches(node)) {
        changed.add(node);
        if (isVariable()) {
          told.put(node.id(), true);
        }
      } else if (isOfType(node) && wasIn(told.put(node.id(), false))) {
        gone.add(node.id());
      }
    }
    for (GraphNode node : event.removed()) {
      inside.remove(node.id());
      if (isOfType(node) && (!isVariable() || wasIn(told.remove(node.id())))) {
        gone.add(node.id());
      }
    }
    return new Seen(changed, gone);
  }

  private boolean wasIn(@Nullable Boolean before) {
    return before == null ? resumed : before;
  }

  /**
   * Finds out which of these are below the node of the filter.
   *
   * @return whether one that was there before has moved in or out, and so what is below it
   */
  private boolean place(List<GraphNode> changed) {
    boolean moved = false;
    boolean more = true;
    while (more) {
      more = false;
      for (GraphNode node : changed) {
        boolean is = node.id().equals(filter.below()) || isAnyInside(node.definition().parents());
        if (is != inside.contains(node.id())) {
          more = true;
          moved |= newestId == 0 || node.id().value() <= newestId;
          var _ = is ? inside.add(node.id()) : inside.remove(node.id());
        }
      }
    }
    return moved;
  }

  private boolean isAnyInside(List<NodeId> parents) {
    return parents.stream().anyMatch(inside::contains);
  }

  /** After a move: what it has brought into the view, and taken out of it. */
  private void enterAndLeave(NodeId below, List<GraphNode> changed, List<NodeId> gone) {
    List<GraphNode> now = everythingBelow(below).nodes();
    inside.clear();
    now.forEach(node -> inside.add(node.id()));
    for (GraphNode node : now) {
      if (matches(node) && !Boolean.TRUE.equals(told.put(node.id(), true))) {
        changed.add(node);
      }
    }
    for (Map.Entry<NodeId, Boolean> each : told.entrySet()) {
      if (each.getValue() && !inside.contains(each.getKey())) {
        each.setValue(false);
        gone.add(each.getKey());
      }
    }
  }
}

package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The graph as it would be with nodes that are not added yet, or are moved. All nodes that planned
 * nodes refer to are in the graph or planned too.
 */
final class PlannedGraph {
  /** The start or the end of a node. */
  private record Moment(NodeId id, boolean end) {}

  private final Graph graph;
  private final Map<NodeId, Definition> definitions;

  /** The planned nodes, each after those that it refers to. */
  private final List<NodeId> order;

  private final Map<NodeId, NodeId> groups = new HashMap<>();
  private final Map<NodeId, List<NodeId>> members = new HashMap<>();

  /** With the planned nodes and all nodes that depend on them, directly or not. */
  PlannedGraph(Graph graph, Map<NodeId, Definition> definitions) {
    this.graph = graph;
    this.definitions = definitions;
    order =
        Graph.sorted(
            definitions.keySet(), id -> definition(id).above().filter(this::plans).toList());
    for (NodeId id : order) {
      NodeId group = Groups.innermost(definition(id).parents(), this::groupOfChildren, this::group);
      if (group != null) {
        groups.put(id, group);
        members.computeIfAbsent(group, _ -> new ArrayList<>()).add(id);
      }
    }
  }

  /** A node that depends on itself, if there is one. */
  Optional<NodeId> inCircle() {
    Set<NodeId> sorted = new HashSet<>(order);
    return definitions.keySet().stream().filter(id -> !sorted.contains(id)).findFirst();
  }

  List<NodeId> order() {
    return order;
  }

  boolean plans(NodeId id) {
    return definitions.containsKey(id);
  }

  Definition definition(NodeId id) {
    Definition planned = definitions.get(id);
    return planned != null ? planned : graph.vertex(id).definition;
  }

  boolean isGroup(NodeId id) {
    return definition(id).kind() == Kind.GROUP;
  }

  /** The innermost group that a node would be in; null for none. */
  @Nullable NodeId group(NodeId id) {
    if (plans(id)) {
      return groups.get(id);
    }
    Vertex group = graph.vertex(id).group;
    return group == null ? null : group.id;
  }

  private @Nullable NodeId groupOfChildren(NodeId id) {
    return isGroup(id) ? id : group(id);
  }

  /** The nodes that would be directly in a group. */
  List<NodeId> members(NodeId group) {
    List<NodeId> all = new ArrayList<>(members.getOrDefault(group, List.of()));
    Vertex there = graph.find(group);
    if (there != null) {
      there.members.stream().map(it -> it.id).filter(id -> !plans(id)).forEach(all::add);
    }
    return all;
  }

  /** Whether a node would be in that group, directly or in a group within it. */
  boolean isIn(NodeId id, NodeId outer) {
    for (NodeId inner = group(id); inner != null; inner = group(inner)) {
      if (inner.equals(outer)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Looks for a planned node that would wait for itself through a group.
   *
   * @return the nodes of a circle, with the first one again at the end; empty if there is none
   */
  Optional<List<NodeId>> cycle() {
    Map<NodeId, CycleSearch> searches = new HashMap<>();
    CycleSearch ofNewGroups = new CycleSearch(null);
    for (NodeId id : order) {
      NodeId group = group(id);
      // Only through a group can a node that existed before wait for a planned one.
      if (group != null) {
        CycleSearch search =
            graph.find(group) == null
                ? ofNewGroups
                : searches.computeIfAbsent(group, CycleSearch::new);
        Optional<List<NodeId>> circle = search.from(new Moment(id, true));
        if (circle.isPresent()) {
          return circle;
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Searches for circles through the end of a group, or of those around it: of one group that there
   * was before, or of all new ones, so that groups in groups are visited once. A node starts after
   * the end of the nodes that it refers to, and after the start of a parent that is a group; a
   * group ends after all nodes in it.
   */
  private final class CycleSearch {
    /** A moment on the path, and those that it depends on and that are still to be visited. */
    private record Step(Moment moment, Iterator<Moment> left) {}

    private final @Nullable NodeId within;
    private final Set<Moment> open = new HashSet<>();
    private final Set<Moment> seen = new HashSet<>();

    /** A search of a group that there was before; null for all new ones. */
    CycleSearch(@Nullable NodeId within) {
      this.within = within;
    }

    private Optional<List<NodeId>> from(Moment first) {
      Deque<Step> way = new ArrayDeque<>();
      enter(first, way);
      while (!way.isEmpty()) {
        Step step = way.getLast();
        if (!step.left().hasNext()) {
          way.removeLast();
          open.remove(step.moment());
          continue;
        }
        Moment needed = step.left().next();
        if (open.contains(needed)) {
          return Optional.of(circle(way, needed));
        }
        enter(needed, way);
      }
      return Optional.empty();
    }

    private void enter(Moment moment, Deque<Step> way) {
      if (!isSafe(moment.id()) && seen.add(moment)) {
        open.add(moment);
        way.addLast(new Step(moment, needs(moment).iterator()));
      }
    }

    /**
     * A node that has finished waits for nothing. A node that was in the group before does not wait
     * for the group's end: this was checked when it was added.
     */
    private boolean isSafe(NodeId id) {
      Vertex there = graph.find(id);
      return there != null
          && !plans(id)
          && (there.state == NodeState.FINISHED || (within != null && isIn(id, within)));
    }

    private List<Moment> needs(Moment moment) {
      List<Moment> needs = new ArrayList<>();
      NodeId id = moment.id();
      if (moment.end()) {
        needs.add(new Moment(id, false));
        if (isGroup(id)) {
          members(id).forEach(member -> needs.add(new Moment(member, true)));
        }
      } else {
        Definition definition = definition(id);
        definition.parents().forEach(it -> needs.add(new Moment(it, !isGroup(it))));
        definition.after().forEach(it -> needs.add(new Moment(it, true)));
      }
      return needs;
    }

    private static List<NodeId> circle(Deque<Step> way, Moment again) {
      List<NodeId> circle = new ArrayList<>();
      boolean inside = false;
      for (Step step : way) {
        inside |= step.moment().equals(again);
        if (inside && (circle.isEmpty() || !circle.getLast().equals(step.moment().id()))) {
          circle.add(step.moment().id());
        }
      }
      if (!circle.getLast().equals(again.id())) {
        circle.add(again.id());
      }
      return circle;
    }
  }
}

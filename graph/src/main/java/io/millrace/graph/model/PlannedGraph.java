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
 * Where nodes would be, on top of a graph in which they are not there yet, or somewhere else. Those
 * that are named by planned ones are in the graph or planned too.
 */
final class PlannedGraph {
  /** The start or the end of a node. */
  private record Moment(NodeId id, boolean end) {}

  private final Graph graph;
  private final Map<NodeId, Definition> definitions;

  /** The planned ones, each after those that it names. */
  private final List<NodeId> order;

  private final Map<NodeId, NodeId> groups = new HashMap<>();
  private final Map<NodeId, List<NodeId>> members = new HashMap<>();

  /** With the planned nodes and all that name them, at whatever distance. */
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

  /** A node that names itself by way of others, if there is one. */
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

  /** What would be directly in a group. */
  List<NodeId> members(NodeId group) {
    List<NodeId> all = new ArrayList<>(members.getOrDefault(group, List.of()));
    Vertex there = graph.find(group);
    if (there != null) {
      there.members.stream().map(it -> it.id).filter(id -> !plans(id)).forEach(all::add);
    }
    return all;
  }

  /** Whether a node would be in that group, directly or within another. */
  boolean isIn(NodeId id, NodeId outer) {
    for (NodeId inner = group(id); inner != null; inner = group(inner)) {
      if (inner.equals(outer)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether a planned node would wait for itself by way of a group.
   *
   * @return the nodes of a circle, its first one at the end again; empty if there is none
   */
  Optional<List<NodeId>> cycle() {
    Map<NodeId, CycleSearch> searches = new HashMap<>();
    for (NodeId id : order) {
      NodeId group = group(id);
      // Only a group makes what was there before wait for what is planned.
      if (group != null) {
        Optional<List<NodeId>> circle =
            searches.computeIfAbsent(group, CycleSearch::new).from(new Moment(id, true));
        if (circle.isPresent()) {
          return circle;
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Searches for circles through the end of one group, or of those around it. A node starts after
   * the end of what it names, and after the start of a parent that is a group; a group ends after
   * all that is in it.
   */
  private final class CycleSearch {
    /** A moment on the way, and those that it needs and that were not looked at yet. */
    private record Step(Moment moment, Iterator<Moment> left) {}

    private final NodeId within;
    private final Set<Moment> open = new HashSet<>();
    private final Set<Moment> seen = new HashSet<>();

    CycleSearch(NodeId within) {
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
     * What has finished waits for nothing. What was in the group before does not wait for its end:
     * that was looked at when it came.
     */
    private boolean isSafe(NodeId id) {
      Vertex there = graph.find(id);
      return there != null && !plans(id) && (there.state == NodeState.FINISHED || isIn(id, within));
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

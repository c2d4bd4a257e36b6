package io.millrace.graph;

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
 * Whether a planned node would wait for itself by way of a group. A node starts after the end of
 * what it names, and after the start of a parent that is a group; a group ends after all that is in
 * it.
 */
final class Cycles {
  /** The start or the end of a node. */
  private record Moment(NodeId id, boolean end) {}

  /** A moment on the way, and those that it needs and that were not looked at yet. */
  private record Step(Moment moment, Iterator<Moment> left) {}

  private final Graph graph;
  private final Plan plan;
  private final @Nullable NodeId within;
  private final Set<Moment> open = new HashSet<>();
  private final Set<Moment> seen = new HashSet<>();

  /** Looks for circles through the end of the group {@code within}, or of those around it. */
  private Cycles(Graph graph, Plan plan, @Nullable NodeId within) {
    this.graph = graph;
    this.plan = plan;
    this.within = within;
  }

  /** The nodes of a circle, its first one at the end again; empty when there is none. */
  static Optional<List<NodeId>> find(Graph graph, Plan plan) {
    Map<NodeId, Cycles> searches = new HashMap<>();
    for (NodeId id : plan.order()) {
      NodeId group = plan.group(id);
      // Only a group makes what was there before wait for what is planned.
      if (group != null) {
        Cycles search = searches.computeIfAbsent(group, it -> new Cycles(graph, plan, it));
        Optional<List<NodeId>> circle = search.from(new Moment(id, true));
        if (circle.isPresent()) {
          return circle;
        }
      }
    }
    return Optional.empty();
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
    return there != null
        && !plan.plans(id)
        && (there.state == NodeState.FINISHED || (within != null && plan.isIn(id, within)));
  }

  private List<Moment> needs(Moment moment) {
    List<Moment> needs = new ArrayList<>();
    NodeId id = moment.id();
    if (moment.end()) {
      needs.add(new Moment(id, false));
      if (plan.isGroup(id)) {
        plan.members(id).forEach(member -> needs.add(new Moment(member, true)));
      }
    } else {
      Definition definition = plan.definition(id);
      definition.parents().forEach(it -> needs.add(new Moment(it, !plan.isGroup(it))));
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

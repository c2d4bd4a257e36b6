package io.millrace.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where nodes would be, on top of a graph in which they are not there yet, or somewhere else. Those
 * that are named by planned ones are in the graph or planned too.
 */
final class Plan {
  private final Graph graph;
  private final Map<NodeId, Definition> definitions;

  /** The planned ones, each after those that it names. */
  private final List<NodeId> order;

  private final Map<NodeId, NodeId> groups = new HashMap<>();
  private final Map<NodeId, List<NodeId>> members = new HashMap<>();

  /** With the planned nodes and all that name them, at whatever distance. */
  Plan(Graph graph, Map<NodeId, Definition> definitions) {
    this.graph = graph;
    this.definitions = definitions;
    order =
        Order.of(definitions.keySet(), id -> definition(id).above().filter(this::plans).toList());
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
}

package io.millrace.graph;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Whether nodes may be where somebody wants them. */
final class Placement {
  private final Graph graph;

  Placement(Graph graph) {
    this.graph = graph;
  }

  /**
   * What new nodes will be, by their ids, which grow from {@code firstId} in the order given.
   *
   * @throws InvalidGraphException where they make no sense
   * @throws NodeStateException where a group takes nothing more
   */
  Map<NodeId, Definition> of(List<NewNode> nodes, long firstId) {
    Map<String, NodeId> locals = new HashMap<>();
    long next = firstId;
    for (NewNode node : nodes) {
      NodeId id = new NodeId(next++);
      if (node.local() != null && locals.putIfAbsent(node.local(), id) != null) {
        throw new InvalidGraphException("two nodes have the local name " + node.local());
      }
    }
    Map<NodeId, Definition> definitions = new LinkedHashMap<>();
    next = firstId;
    for (NewNode node : nodes) {
      NewNode.Place place = node.place();
      definitions.put(
          new NodeId(next++),
          new Definition(
              node.type(),
              node.kind(),
              resolve(place.parents(), locals),
              resolve(place.after(), locals),
              place.branch(),
              node.always()));
    }
    check(new Plan(graph, definitions), definitions.keySet());
    return definitions;
  }

  /**
   * What a node will be at another place.
   *
   * @param dependents it, and all that is below or after it at whatever distance
   * @throws InvalidGraphException where that makes no sense
   * @throws NodeStateException where a group takes nothing more
   */
  Definition of(Vertex vertex, Collection<Vertex> dependents, NewNode.Place place) {
    Definition old = vertex.definition;
    Definition definition =
        new Definition(
            old.type(),
            old.kind(),
            resolve(place.parents(), Map.of()),
            resolve(place.after(), Map.of()),
            place.branch(),
            old.always());
    Map<NodeId, Definition> planned = new LinkedHashMap<>();
    dependents.forEach(it -> planned.put(it.id, it.definition));
    planned.put(vertex.id, definition);
    check(new Plan(graph, planned), Set.of(vertex.id));
    return definition;
  }

  private List<NodeId> resolve(List<NodeRef> refs, Map<String, NodeId> locals) {
    List<NodeId> ids = new ArrayList<>();
    for (NodeRef ref : refs) {
      NodeId id =
          switch (ref) {
            case NodeRef.Existing(NodeId existing) when graph.find(existing) != null -> existing;
            case NodeRef.Local(String name) when locals.containsKey(name) -> locals.get(name);
            default -> throw new InvalidGraphException("there is no node " + ref);
          };
      if (ids.contains(id)) {
        throw new InvalidGraphException("node " + ref + " is named twice");
      }
      ids.add(id);
    }
    return ids;
  }

  private void check(Plan plan, Set<NodeId> changed) {
    plan.inCircle()
        .ifPresent(id -> {
          throw new InvalidGraphException("node " + id + " would be below or after itself");
        });
    for (NodeId id : changed) {
      checkParents(id, plan);
    }
    Cycles.find(graph, plan)
        .ifPresent(circle -> {
          throw new InvalidGraphException(
              "nodes would wait for themselves: "
                  + String.join(" < ", circle.stream().map(NodeId::toString).toList()));
        });
  }

  private void checkParents(NodeId id, Plan plan) {
    Definition definition = plan.definition(id);
    boolean chosen = false;
    for (NodeId parent : definition.parents()) {
      chosen |= plan.definition(parent).kind() == Kind.CONDITION;
      Vertex there = graph.find(parent);
      if (there != null && there.isGroup()) {
        checkOpen(there);
      }
    }
    if (definition.branch() != null && !chosen) {
      throw new InvalidGraphException("node " + id + " has a branch and no condition above it");
    }
  }

  private static void checkOpen(Vertex group) {
    switch (group.phase) {
      case Phase.Ended _ -> throw new NodeStateException("group " + group.id + " has ended");
      case Phase.Running running when running.killing() ->
          throw new NodeStateException("group " + group.id + " is being killed");
      default -> {}
    }
  }
}

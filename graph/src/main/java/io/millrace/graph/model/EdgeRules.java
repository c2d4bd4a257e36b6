package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.Kind;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeRef;
import io.millrace.graph.Phase;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Function;

/** Whether nodes may be where somebody wants them. */
final class EdgeRules {
  private final Graph graph;

  /** The first id that is not given yet; nodes from there on are known by their place. */
  private final long firstNew;

  /** For a graph that gives its next node this id. */
  EdgeRules(Graph graph, long firstNew) {
    this.graph = graph;
    this.firstNew = firstNew;
  }

  /** For nodes that are there. */
  EdgeRules(Graph graph) {
    this(graph, NodeId.MOST + 1);
  }

  private String label(NodeId id) {
    return id.value() < firstNew ? "node " + id : "new node " + (id.value() - firstNew + 1);
  }

  /**
   * What new nodes will be, by their ids, which grow from the next one in the order given.
   *
   * @param kinds the kind of each type
   * @throws InvalidGraphException where they make no sense
   * @throws NodeStateException where a group takes nothing more
   */
  Map<NodeId, Definition> of(List<NewNode> nodes, Function<String, Kind> kinds) {
    Map<String, NodeId> locals = new HashMap<>();
    long next = firstNew;
    for (NewNode node : nodes) {
      NodeId id = new NodeId(next++);
      if (node.local() != null && locals.putIfAbsent(node.local(), id) != null) {
        throw new InvalidGraphException("two nodes have the local name " + node.local());
      }
    }
    Map<NodeId, Definition> definitions = new LinkedHashMap<>();
    next = firstNew;
    for (NewNode node : nodes) {
      NewNode.Place place = node.place();
      NodeId id = new NodeId(next++);
      definitions.put(
          id,
          new Definition(
              node.type(),
              kinds.apply(node.type()),
              resolve(id, place.parents(), locals),
              resolve(id, place.after(), locals),
              place.branch(),
              node.always()));
    }
    check(new PlannedGraph(graph, definitions), definitions.keySet());
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
            resolve(vertex.id, place.parents(), Map.of()),
            resolve(vertex.id, place.after(), Map.of()),
            place.branch(),
            old.always());
    Map<NodeId, Definition> planned = new LinkedHashMap<>();
    dependents.forEach(it -> planned.put(it.id, it.definition));
    planned.put(vertex.id, definition);
    check(new PlannedGraph(graph, planned), Set.of(vertex.id));
    return definition;
  }

  private List<NodeId> resolve(NodeId of, List<NodeRef> refs, Map<String, NodeId> locals) {
    SequencedSet<NodeId> ids = new LinkedHashSet<>();
    for (NodeRef ref : refs) {
      NodeId id =
          switch (ref) {
            case NodeRef.Existing(NodeId existing) when graph.find(existing) != null -> existing;
            case NodeRef.Local(String name) when locals.containsKey(name) -> locals.get(name);
            default -> throw new InvalidGraphException(label(of) + ": there is no node " + ref);
          };
      if (!ids.add(id)) {
        throw new InvalidGraphException(label(of) + ": node " + ref + " is named twice");
      }
    }
    return List.copyOf(ids);
  }

  private void check(PlannedGraph plan, Set<NodeId> changed) {
    plan.inCircle()
        .ifPresent(id -> {
          throw new InvalidGraphException(label(id) + " would be below or after itself");
        });
    for (NodeId id : changed) {
      checkParents(id, plan);
    }
    plan.cycle()
        .ifPresent(circle -> {
          throw new InvalidGraphException(
              "nodes would wait for themselves: "
                  + String.join(" < ", circle.stream().map(this::label).toList()));
        });
  }

  private void checkParents(NodeId id, PlannedGraph plan) {
    Definition definition = plan.definition(id);
    boolean chosen = false;
    for (NodeId parent : definition.parents()) {
      chosen |= plan.definition(parent).kind() == Kind.CONDITION;
      Vertex there = graph.find(parent);
      if (there != null && there.isGroup()) {
        checkOpen(there);
      }
    }
    // Below what is in a group counts as in it: it would be held back in one that has finished.
    NodeId group = plan.group(id);
    Vertex around = group == null ? null : graph.find(group);
    if (around != null) {
      checkOpen(around);
    }
    if (definition.branch() != null && !chosen) {
      throw new InvalidGraphException(label(id) + " has a branch and no condition above it");
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

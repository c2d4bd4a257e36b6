package io.millrace.graph;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/** What a graph is without some of its nodes. Changes nothing itself. */
final class Removals {
  private final Graph graph;

  Removals(Graph graph) {
    this.graph = graph;
  }

  /**
   * The removal of a node, those that stay and named it first.
   *
   * @throws NodeStateException where one that goes runs, or one that stays cannot do without it
   */
  List<Change> of(Vertex named, Removal removal) {
    return switch (removal) {
      case LEAF -> {
        if (!named.dependents.isEmpty()) {
          throw new NodeStateException(
              "node "
                  + named.dependents.getFirst().id
                  + " is below node "
                  + named.id
                  + " or after it; remove it with what is below, or alone");
        }
        yield changes(List.of(named), Map.of());
      }
      case ALONE -> {
        Map<NodeId, Definition> heirs = new LinkedHashMap<>();
        for (Vertex heir : named.dependents) {
          heirs.put(heir.id, new Heir(heir, named).definition());
        }
        yield changes(List.of(named), heirs);
      }
      case SUBTREE -> {
        SequencedSet<Vertex> going = subtree(named);
        Map<NodeId, Definition> staying = new LinkedHashMap<>();
        for (Vertex gone : going) {
          for (Vertex dependent : gone.dependents) {
            if (!going.contains(dependent)) {
              staying.computeIfAbsent(dependent.id, _ -> without(dependent, going));
            }
          }
        }
        yield changes(List.copyOf(going.reversed()), staying);
      }
    };
  }

  /** A node, and all that has no parent beside it and them. */
  private static SequencedSet<Vertex> subtree(Vertex top) {
    SequencedSet<Vertex> going = new LinkedHashSet<>(List.of(top));
    Map<Vertex, Integer> lost = new HashMap<>();
    List<Vertex> left = new ArrayList<>(going);
    while (!left.isEmpty()) {
      Vertex gone = left.removeLast();
      for (Vertex next : gone.dependents) {
        boolean orphaned =
            next.parents.contains(gone) && lost.merge(next, 1, Integer::sum) == next.parents.size();
        if (orphaned) {
          going.add(next);
          left.add(next);
        }
      }
    }
    return going;
  }

  private static Definition without(Vertex vertex, Collection<Vertex> going) {
    List<Vertex> parents = vertex.parents.stream().filter(it -> !going.contains(it)).toList();
    List<Vertex> after = vertex.after.stream().filter(it -> !going.contains(it)).toList();
    boolean chosen = parents.stream().anyMatch(Vertex::isCondition);
    return vertex.definition.at(
        ids(parents), ids(after), chosen ? vertex.definition.branch() : null);
  }

  private static List<NodeId> ids(List<Vertex> vertices) {
    return vertices.stream().map(it -> it.id).toList();
  }

  private List<Change> changes(List<Vertex> going, Map<NodeId, Definition> staying) {
    for (Vertex vertex : going) {
      if (vertex.state == NodeState.RUNNING && !vertex.isGroup()) {
        throw new NodeStateException("node " + vertex.id + " is running; kill it first");
      }
    }
    check(going, staying);
    List<Change> changes = new ArrayList<>();
    staying.forEach((id, definition) -> changes.add(new Change.Moved(id, definition)));
    going.forEach(vertex -> changes.add(new Change.Removed(vertex.id)));
    return changes;
  }

  /**
   * A node that comes into a group by losing a parent outside may come after that group, or may not
   * have done what that group has.
   */
  private void check(List<Vertex> going, Map<NodeId, Definition> staying) {
    List<Vertex> first = staying.keySet().stream().map(graph::vertex).toList();
    Map<NodeId, Definition> planned = new LinkedHashMap<>();
    Graph.reach(first, it -> it.dependents).forEach(it -> planned.put(it.id, it.definition));
    going.forEach(it -> planned.remove(it.id));
    planned.putAll(staying);
    Plan plan = new Plan(graph, planned);
    plan.order().forEach(id -> checkGroup(graph.vertex(id), plan.group(id)));
    Cycles.find(graph, plan)
        .ifPresent(circle -> {
          throw new NodeStateException(
              "node "
                  + circle.getFirst()
                  + " would wait for itself without node "
                  + going.getLast().id
                  + "; move it first");
        });
  }

  private void checkGroup(Vertex vertex, @Nullable NodeId group) {
    if (group == null || !vertex.state.holds()) {
      return;
    }
    boolean enters = vertex.group == null || !group.equals(vertex.group.id);
    if (enters && graph.vertex(group).state == NodeState.FINISHED) {
      throw new NodeStateException(
          "node "
              + vertex.id
              + ", which is "
              + vertex.state.word()
              + ", would come into group "
              + group
              + ", which has finished");
    }
  }
}

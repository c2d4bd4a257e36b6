package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Works out how a graph changes if nodes are removed. It changes nothing itself. */
record Removals(Graph graph) {
  /**
   * Removes a node. The changes of nodes that stay and named it come first.
   *
   * @throws NodeStateException if a removed node runs, or one that stays needs it
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
        Map<NodeId, Definition> staying = new LinkedHashMap<>();
        for (Vertex dependent : named.dependents) {
          staying.put(dependent.id, new Reparenting(dependent, named).definition());
        }
        yield changes(List.of(named), staying);
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

  /** Removes nodes that have ended, and that are connected with no others. */
  List<Change> ofWhole(List<Vertex> graphNodes) {
    Set<Vertex> all = new HashSet<>(graphNodes);
    for (Vertex vertex : graphNodes) {
      if (!vertex.state.isSettled()) {
        throw new NodeStateException("node " + vertex.id + " has not ended");
      }
      if (!all.containsAll(vertex.parents)
          || !all.containsAll(vertex.after)
          || !all.containsAll(vertex.dependents)) {
        throw new NodeStateException("node " + vertex.id + " is connected with another node");
      }
    }
    List<Vertex> sorted =
        Graph.sorted(
            graphNodes,
            it -> Stream.concat(it.parents.stream(), it.after.stream()).distinct().toList());
    return sorted.reversed().stream().<Change>map(it -> new Change.Removed(it.id)).toList();
  }

  /** A node, and all nodes that have no other parent than it and them. */
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
   * Checks nodes that enter a group by losing a parent outside it: such a node may come after that
   * group, or may not have finished although the group has.
   */
  private void check(List<Vertex> going, Map<NodeId, Definition> staying) {
    List<Vertex> first = staying.keySet().stream().map(graph::vertex).toList();
    Map<NodeId, Definition> planned = new LinkedHashMap<>();
    Graph.reach(first, it -> it.dependents).forEach(it -> planned.put(it.id, it.definition));
    going.forEach(it -> planned.remove(it.id));
    planned.putAll(staying);
    PlannedGraph plan = new PlannedGraph(graph, planned);
    plan.order().forEach(id -> checkGroup(graph.vertex(id), plan.group(id)));
    plan.cycle()
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

  /**
   * A node of which a parent or predecessor is removed alone: the nodes to which that one referred
   * take its place.
   *
   * @param node the node that stays
   * @param gone the node that is removed
   */
  private record Reparenting(Vertex node, Vertex gone) {
    /**
     * The new definition of the node that stays.
     *
     * @throws NodeStateException if it waits for something that only the removed node knows
     */
    Definition definition() {
      SequencedSet<NodeId> parents = new LinkedHashSet<>();
      for (Vertex parent : node.parents) {
        if (parent.equals(gone)) {
          parents.addAll(gone.definition.parents());
        } else {
          parents.add(parent.id);
        }
      }
      SequencedSet<NodeId> after = new LinkedHashSet<>();
      for (Vertex before : node.after) {
        if (before.equals(gone)) {
          checkAfter();
          addWhatEndsBefore(after);
        } else {
          after.add(before.id);
        }
      }
      if (isBelow()) {
        after.addAll(gone.definition.after());
      }
      return node.definition.at(List.copyOf(parents), List.copyOf(after), branch());
    }

    private boolean isBelow() {
      return node.parents.contains(gone);
    }

    /** The removed node may be skipped, or wait for its group: no other node can represent that. */
    private void checkAfter() {
      boolean tells = gone.isGroup() || gone.definition.branch() != null;
      if (tells && gone.state != NodeState.FINISHED) {
        refuse("comes after node " + gone.id + ", which has not finished");
      }
    }

    /**
     * Adds the nodes that end before the removed node starts; of its group, those that come before
     * the group.
     */
    private void addWhatEndsBefore(Collection<NodeId> before) {
      Deque<Vertex> left = new ArrayDeque<>(List.of(gone));
      SequencedSet<Vertex> seen = new LinkedHashSet<>(left);
      for (Vertex next = left.poll(); next != null; next = left.poll()) {
        for (Vertex parent : next.parents) {
          if (!parent.isGroup()) {
            before.add(parent.id);
          } else if (seen.add(parent)) {
            left.add(parent);
          }
        }
        before.addAll(next.definition.after());
      }
    }

    private @Nullable Branch branch() {
      Branch own = node.definition.branch();
      if (isBelow() && gone.isCondition() && own != null && !leadsTo(own)) {
        refuse("is on a branch of node " + gone.id);
      }
      boolean chosen = node.parents.stream().anyMatch(it -> it.isCondition() && !it.equals(gone));
      boolean inherits = isBelow() && gone.parents.stream().anyMatch(Vertex::isCondition);
      Branch inherited = gone.definition.branch();
      if (chosen && inherits && own != inherited) {
        refuse("would be on the branches of two conditions");
      }
      if (chosen) {
        return own;
      }
      return inherits ? inherited : null;
    }

    private boolean leadsTo(Branch branch) {
      return gone.state == NodeState.FINISHED
          && gone.phase instanceof Phase.Ended ended
          && ended.taken() == branch;
    }

    /**
     * Refuses only if the node is waiting: once it has started, its place does not matter any more.
     */
    private void refuse(String why) {
      if (node.phase instanceof Phase.Waiting) {
        throw new NodeStateException("node " + node.id + " " + why + "; move it first");
      }
    }
  }
}

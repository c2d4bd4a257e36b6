package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A node of a {@link Graph}, linked with its neighbours. */
final class Vertex {
  final NodeId id;
  final long createdMillis;
  @Nullable String name;
  Definition definition;
  Phase phase;
  NodeState state = NodeState.INCIPIENT;
  long version;

  /** The nodes that it refers to, in the order of its definition. */
  List<Vertex> parents = List.of();

  List<Vertex> after = List.of();

  /** The nodes that refer to it. */
  final SequencedSet<Vertex> dependents = new LinkedHashSet<>();

  /** The innermost group that each of those is in or is; null for none. */
  @Nullable Vertex group;

  /** Of a group: the nodes directly in it. */
  final Set<Vertex> members = new LinkedHashSet<>();

  /** Of a group: how many of these have not settled. */
  int unsettled;

  /** Of a group: how many of these failed, were killed or are blocked. */
  int holding;

  Vertex(Change.Added added) {
    id = added.id();
    createdMillis = added.createdMillis();
    name = added.name();
    definition = added.definition();
    phase = added.phase();
  }

  boolean isGroup() {
    return definition.kind() == Kind.GROUP;
  }

  boolean isCondition() {
    return definition.kind() == Kind.CONDITION;
  }

  GraphNode snapshot() {
    return new GraphNode(id, name, definition, phase, state, "", createdMillis, version);
  }

  /** The group to which the nodes below it belong: itself, or its own group. */
  @Nullable Vertex groupOfChildren() {
    return isGroup() ? this : group;
  }
}

package io.millrace.graph;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A node inside a {@link Graph}, linked with those around it. */
final class Vertex {
  final NodeId id;
  Definition definition;
  Phase phase;
  NodeState state = NodeState.INCIPIENT;
  long version;

  /** Those that it names, in the order of its definition. */
  List<Vertex> parents = List.of();

  List<Vertex> after = List.of();

  /** Those that name it, each once. */
  final List<Vertex> dependents = new ArrayList<>();

  /** The innermost group that everything above it is in or is; null for none. */
  @Nullable Vertex group;

  /** Of a group: what is directly in it. */
  final Set<Vertex> members = new LinkedHashSet<>();

  /** Of a group: how many of those have not settled. */
  int unsettled;

  /** Of a group: how many of those failed, were killed or are blocked. */
  int holding;

  Vertex(NodeId id, Definition definition, Phase phase) {
    this.id = id;
    this.definition = definition;
    this.phase = phase;
  }

  boolean isGroup() {
    return definition.kind() == Kind.GROUP;
  }

  GraphNode snapshot() {
    return new GraphNode(id, null, definition, phase, state, "", 0, version);
  }

  /** The group that those below it are in: itself, or the one that it is in. */
  @Nullable Vertex groupOfChildren() {
    return isGroup() ? this : group;
  }

  /** Whether it is in that group, directly or within another. */
  boolean isIn(Vertex outer) {
    for (Vertex inner = group; inner != null; inner = inner.group) {
      if (inner.equals(outer)) {
        return true;
      }
    }
    return false;
  }
}

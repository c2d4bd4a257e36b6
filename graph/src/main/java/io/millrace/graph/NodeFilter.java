package io.millrace.graph;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes are wanted. Empty sets and null exclude nothing.
 *
 * @param types the names of their types
 * @param states their states
 * @param below the node that they are below, directly or not; it is included itself; null for all
 * @param newerThan only nodes with greater ids; 0 for all
 */
public record NodeFilter(
    Set<String> types, Set<NodeState> states, @Nullable NodeId below, long newerThan) {
  /** Every node. */
  public static final NodeFilter ALL = new NodeFilter(Set.of(), Set.of(), null, 0);

  public NodeFilter {
    types = Set.copyOf(types);
    states = Set.copyOf(states);
  }
}

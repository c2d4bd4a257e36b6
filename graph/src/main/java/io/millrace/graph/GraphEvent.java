package io.millrace.graph;

import java.util.List;

/**
 * What one change did.
 *
 * @param version that of the graph after it, by which a subscription can go on
 * @param changed the nodes that were added or changed or whose state was, as they were then
 * @param removed those that are gone
 */
public record GraphEvent(long version, List<GraphNode> changed, List<GraphNode> removed) {
  /** Copies the lists. */
  public GraphEvent {
    changed = List.copyOf(changed);
    removed = List.copyOf(removed);
  }
}

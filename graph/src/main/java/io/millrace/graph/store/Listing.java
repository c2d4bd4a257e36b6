package io.millrace.graph.store;

import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.model.Reasons;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Nodes as they were at one moment, which are given their reasons once somebody wants to see them:
 * of a list of very many mostly few.
 *
 * @param nodes those that are wanted, without reasons
 * @param all all nodes of that moment, in the order of their ids
 * @param version that of the graph at that moment
 */
record Listing(List<GraphNode> nodes, List<GraphNode> all, long version) {
  /** A part of the wanted ones with reasons. */
  List<GraphNode> explained(List<GraphNode> part) {
    Reasons reasons = new Reasons(this::find);
    return part.stream().map(reasons::explain).toList();
  }

  private @Nullable GraphNode find(NodeId id) {
    int low = 0;
    int high = all.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      GraphNode node = all.get(middle);
      int order = node.id().compareTo(id);
      if (order == 0) {
        return node;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return null;
  }
}

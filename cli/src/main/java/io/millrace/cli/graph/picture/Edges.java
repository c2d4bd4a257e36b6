package io.millrace.cli.graph.picture;

import io.millrace.cli.graph.view.NodeView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The lines between nodes. */
final class Edges {
  private Edges() {}

  /**
   * A line from one node to another that waits for it.
   *
   * @param from the one above
   * @param to the one below
   * @param after whether the lower one only comes after the upper one
   * @param label the branch of a condition; empty for none
   */
  record Edge(long from, long to, boolean after, String label) {}

  /** Those between nodes that are there. */
  static List<Edge> of(Collection<NodeView> nodes) {
    Set<Long> there = nodes.stream().map(NodeView::id).collect(Collectors.toSet());
    List<Edge> edges = new ArrayList<>();
    for (NodeView node : nodes) {
      for (long parent : node.place().parents()) {
        if (there.contains(parent)) {
          edges.add(new Edge(parent, node.id(), false, node.place().branch()));
        }
      }
      for (long before : node.place().after()) {
        if (there.contains(before)) {
          edges.add(new Edge(before, node.id(), true, ""));
        }
      }
    }
    return edges;
  }
}

package io.millrace.graph;

import java.util.AbstractList;
import java.util.Collection;
import java.util.List;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/**
 * Nodes as they were at one moment, which get their reasons when a part of them is taken: those of
 * all take long where there are many. Safe for use by any number of threads.
 */
final class Moment extends AbstractList<GraphNode> implements RandomAccess {
  private final List<GraphNode> shown;

  /** By their ids. */
  private final GraphNode[] all;

  /**
   * For some of the nodes.
   *
   * @param shown those that this list has, not copied
   * @param all all there were at that moment, in the order of their ids
   */
  Moment(List<GraphNode> shown, Collection<GraphNode> all) {
    this.shown = shown;
    this.all = all.toArray(GraphNode[]::new);
  }

  @Override
  public GraphNode get(int index) {
    return subList(index, index + 1).getFirst();
  }

  @Override
  public int size() {
    return shown.size();
  }

  /** Explains them together, since what holds one back often holds its neighbours too. */
  @Override
  public List<GraphNode> subList(int from, int to) {
    Reasons reasons = new Reasons(this::find);
    return shown.subList(from, to).stream().map(reasons::explain).toList();
  }

  private @Nullable GraphNode find(NodeId id) {
    int from = 0;
    int to = all.length - 1;
    while (from <= to) {
      int middle = (from + to) >>> 1;
      int order = all[middle].id().compareTo(id);
      if (order == 0) {
        return all[middle];
      }
      if (order < 0) {
        from = middle + 1;
      } else {
        to = middle - 1;
      }
    }
    return null;
  }
}

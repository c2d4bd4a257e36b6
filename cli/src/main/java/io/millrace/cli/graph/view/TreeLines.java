package io.millrace.cli.graph.view;

import io.millrace.cli.graph.view.Forest.Stem;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/**
 * A graph as lines of text. Where there are more nodes than lines, what is all in one state below a
 * node goes into the line of that node, and what runs or has failed comes before the rest.
 */
public final class TreeLines {
  /** Deeper nodes are not moved further to the right. */
  private static final int DEEPEST = 24;

  private final int limit;
  private final Paint paint;
  private final long nowMillis;
  private final List<String> lines = new ArrayList<>();
  private int shown;

  private TreeLines(int limit, Paint paint, long nowMillis) {
    this.limit = limit;
    this.paint = paint;
    this.nowMillis = nowMillis;
  }

  /**
   * The lines of these nodes.
   *
   * @param nodes by id
   * @param limit the most lines; one more says how many nodes are missing
   * @param nowMillis the time, in milliseconds since 1970
   */
  public static List<String> of(
      Collection<NodeView> nodes, int limit, Paint paint, long nowMillis) {
    Forest forest = new Forest(nodes);
    TreeLines tree = new TreeLines(limit, paint, nowMillis);
    tree.add(forest.roots(), forest.size() > limit);
    int missing = forest.size() - tree.shown;
    if (missing > 0) {
      tree.lines.add(String.format("… and %,d more", missing));
    }
    return tree.lines;
  }

  /** Where a walk is: the nodes beside each other that are still to come. */
  private record Level(Iterator<Stem> left, String indent, boolean top) {}

  private void add(List<Stem> roots, boolean brief) {
    Deque<Level> levels = new ArrayDeque<>();
    levels.push(new Level(order(roots, brief), "", true));
    while (!levels.isEmpty() && lines.size() < limit) {
      Level level = levels.getFirst();
      if (!level.left.hasNext()) {
        levels.pop();
        continue;
      }
      Stem stem = level.left.next();
      boolean last = !level.left.hasNext();
      boolean folded = brief && stem.size > 1 && mayFold(stem);
      String indent = level.top ? "" : level.indent + (last ? "└─ " : "├─ ");
      lines.add(indent + line(stem, folded));
      shown += folded ? stem.size : 1;
      if (!folded && !stem.below.isEmpty()) {
        String deeper = level.top ? "" : level.indent + (last ? "   " : "│  ");
        boolean tooDeep = levels.size() > DEEPEST;
        levels.push(new Level(order(stem.below, brief), tooDeep ? level.indent : deeper, false));
      }
    }
  }

  private static Iterator<Stem> order(List<Stem> stems, boolean brief) {
    return brief ? stems.stream().sorted(Stem.URGENT_FIRST).iterator() : stems.iterator();
  }

  private static boolean mayFold(Stem stem) {
    return stem.common == State.FINISHED
        || stem.common == State.SKIPPED
        || stem.common == State.INCIPIENT
        || stem.common == State.BLOCKED;
  }

  private String line(Stem stem, boolean folded) {
    String line = NodeLine.inTree(stem.node, paint, nowMillis);
    if (!folded) {
      return line;
    }
    int more = stem.size - 1;
    return line + String.format(" (and %,d below, all %s)", more, stem.node.state().word());
  }
}

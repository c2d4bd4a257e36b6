package io.millrace.cli.graph.view;

import io.millrace.cli.terminal.ScreenSize;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Formats a graph as lines of text. If there are more nodes than lines, a subtree in a single state
 * becomes one line with a count, and nodes that run or have failed come first.
 */
public final class TreeLines {
  /** Deeper nodes are not indented further. */
  private static final int DEEPEST = 24;

  private final int limit;
  private final NodeLine.Paint paint;
  private final long nowMillis;
  private final List<String> lines = new ArrayList<>();
  private int shown;

  private TreeLines(int limit, NodeLine.Paint paint, long nowMillis) {
    this.limit = limit;
    this.paint = paint;
    this.nowMillis = nowMillis;
  }

  /**
   * Formats these nodes.
   *
   * @param nodes by id
   * @param limit the maximum number of lines; one more line counts the nodes that are missing
   * @param nowMillis the time, in milliseconds since 1970
   */
  public static List<String> of(
      Collection<NodeView> nodes, int limit, NodeLine.Paint paint, long nowMillis) {
    Forest forest = new Forest(nodes);
    TreeLines tree = new TreeLines(limit, paint, nowMillis);
    tree.add(forest.roots(), forest.size() > limit);
    int missing = forest.size() - tree.shown;
    if (missing > 0) {
      tree.lines.add(String.format("… and %,d more", missing));
    }
    return tree.lines;
  }

  /** A level of the depth-first walk: the siblings that are left. */
  private record Level(Iterator<Forest.Stem> left, String indent, boolean top) {}

  private void add(List<Forest.Stem> roots, boolean brief) {
    Deque<Level> levels = new ArrayDeque<>();
    levels.push(new Level(order(roots, brief), "", true));
    while (!levels.isEmpty() && lines.size() < limit) {
      Level level = levels.getFirst();
      if (!level.left.hasNext()) {
        levels.pop();
        continue;
      }
      Forest.Stem stem = level.left.next();
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

  private static Iterator<Forest.Stem> order(List<Forest.Stem> stems, boolean brief) {
    return brief ? stems.stream().sorted(Forest.Stem.URGENT_FIRST).iterator() : stems.iterator();
  }

  private static boolean mayFold(Forest.Stem stem) {
    return stem.common == State.FINISHED
        || stem.common == State.SKIPPED
        || stem.common == State.INCIPIENT
        || stem.common == State.BLOCKED;
  }

  private String line(Forest.Stem stem, boolean folded) {
    String line = NodeLine.inTree(stem.node, paint, nowMillis);
    if (!folded) {
      return line;
    }
    int more = stem.size - 1;
    return line + String.format(" (and %,d below, all %s)", more, stem.node.state().word());
  }

  /** Nodes as trees: each node once, below the first of its parents that is shown. */
  private static final class Forest {
    private final List<Stem> roots = new ArrayList<>();
    private final int size;

    /**
     * Builds the trees.
     *
     * @param nodes in the order of siblings
     */
    Forest(Collection<NodeView> nodes) {
      size = nodes.size();
      Map<Long, Stem> stems = LinkedHashMap.newLinkedHashMap(size);
      nodes.forEach(node -> stems.put(node.id(), new Stem(node)));
      for (Stem stem : stems.values()) {
        Stem parent = null;
        for (long id : stem.node.place().parents()) {
          parent = parent == null ? stems.get(id) : parent;
        }
        if (parent == null) {
          roots.add(stem);
        } else {
          parent.below.add(stem);
        }
      }
      addUp();
    }

    /** Without recursion: a chain may be as long as the graph. */
    private void addUp() {
      List<Stem> order = new ArrayList<>(roots);
      for (int i = 0; i < order.size(); i++) {
        order.addAll(order.get(i).below);
      }
      order.reversed().forEach(Stem::addUp);
    }

    List<Stem> roots() {
      return roots;
    }

    int size() {
      return size;
    }

    /** A node and its descendants. */
    static final class Stem {
      /** The most urgent states first. */
      static final Comparator<Stem> URGENT_FIRST = Comparator.comparingInt(stem -> stem.urgency);

      final NodeView node;
      final List<Stem> below = new ArrayList<>();

      /** The number of nodes, including this one. */
      int size = 1;

      /** The state of all of them; null if they have different states. */
      @Nullable State common;

      private int urgency;

      private Stem(NodeView node) {
        this.node = node;
        common = node.state();
        urgency = node.state().urgency();
      }

      private void addUp() {
        for (Stem stem : below) {
          size += stem.size;
          common = common == stem.common ? common : null;
          urgency = Math.min(urgency, stem.urgency);
        }
      }
    }
  }

  /**
   * Draws a graph on a screen, again and again in the same place. The last drawing stays. Not
   * thread-safe.
   */
  public static final class LiveTree {
    private static final long SIZE_NANOS = 2_000_000_000L;
    private static final String CLEAR_BELOW = "\033[J";
    private static final String NO_WRAP = "\033[?7l";
    private static final String WRAP = "\033[?7h";

    private final PrintStream out;
    private final Supplier<ScreenSize> screen;
    private final int limit;
    private final NodeLine.Paint paint;
    private ScreenSize size;
    private long askedNanos;
    private int drawn;

    /**
     * Nothing drawn yet.
     *
     * @param screen gets the size of the screen
     * @param limit the maximum number of nodes; 0 for as many as fit
     */
    public LiveTree(PrintStream out, Supplier<ScreenSize> screen, int limit) {
      this.out = out;
      this.screen = screen;
      this.limit = limit;
      paint = NodeLine.Paint.on(true);
      size = screen.get();
      askedNanos = System.nanoTime();
    }

    /**
     * Draws the current graph.
     *
     * @param nowMillis the time, in milliseconds since 1970
     */
    public void draw(Seen seen, long nowMillis) {
      if (System.nanoTime() - askedNanos > SIZE_NANOS) {
        askedNanos = System.nanoTime();
        size = screen.get();
      }
      // One line for the counts, one for the number of missing nodes, one for the cursor.
      int fit = Math.max(1, size.rows() - 3);
      int most = limit == 0 ? fit : Math.min(limit, fit);
      List<String> lines = new ArrayList<>(TreeLines.of(seen.nodes(), most, paint, nowMillis));
      lines.add(seen.summary());
      StringBuilder frame = new StringBuilder();
      if (drawn > 0) {
        frame.append("\033[").append(drawn).append('A');
      }
      // A line that is too long is cut by the terminal, which knows how wide characters are.
      frame.append('\r').append(CLEAR_BELOW).append(NO_WRAP);
      lines.forEach(line -> frame.append(line).append('\n'));
      out.print(frame.append(WRAP));
      out.flush();
      drawn = lines.size();
    }
  }
}

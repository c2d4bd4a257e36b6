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
  private final NodeLine.Colours colours;
  private final long nowMillis;
  private final List<String> lines = new ArrayList<>();
  private int shown;

  private TreeLines(int limit, NodeLine.Colours colours, long nowMillis) {
    this.limit = limit;
    this.colours = colours;
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
      Collection<NodeView> nodes, int limit, NodeLine.Colours colours, long nowMillis) {
    Forest forest = new Forest(nodes);
    TreeLines tree = new TreeLines(limit, colours, nowMillis);
    tree.add(forest.roots(), forest.size() > limit);
    int missing = forest.size() - tree.shown;
    if (missing > 0) {
      tree.lines.add(String.format("… and %,d more", missing));
    }
    return tree.lines;
  }

  /** A level of the depth-first walk: the siblings that are left. */
  private record Level(Iterator<Forest.Subtree> left, String indent, boolean top) {}

  private void add(List<Forest.Subtree> roots, boolean brief) {
    Deque<Level> levels = new ArrayDeque<>();
    levels.push(new Level(order(roots, brief), "", true));
    while (!levels.isEmpty() && lines.size() < limit) {
      Level level = levels.getFirst();
      if (!level.left.hasNext()) {
        levels.pop();
        continue;
      }
      Forest.Subtree subtree = level.left.next();
      boolean last = !level.left.hasNext();
      boolean folded = brief && subtree.size > 1 && mayFold(subtree);
      String indent = level.top ? "" : level.indent + (last ? "└─ " : "├─ ");
      lines.add(indent + line(subtree, folded));
      shown += folded ? subtree.size : 1;
      if (!folded && !subtree.below.isEmpty()) {
        String deeper = level.top ? "" : level.indent + (last ? "   " : "│  ");
        boolean tooDeep = levels.size() > DEEPEST;
        levels.push(new Level(order(subtree.below, brief), tooDeep ? level.indent : deeper, false));
      }
    }
  }

  private static Iterator<Forest.Subtree> order(List<Forest.Subtree> subtrees, boolean brief) {
    return brief
        ? subtrees.stream().sorted(Forest.Subtree.URGENT_FIRST).iterator()
        : subtrees.iterator();
  }

  private static boolean mayFold(Forest.Subtree subtree) {
    return subtree.common == State.FINISHED
        || subtree.common == State.SKIPPED
        || subtree.common == State.INCIPIENT
        || subtree.common == State.BLOCKED;
  }

  private String line(Forest.Subtree subtree, boolean folded) {
    String line = NodeLine.inTree(subtree.node, colours, nowMillis);
    if (!folded) {
      return line;
    }
    int more = subtree.size - 1;
    return line + String.format(" (and %,d below, all %s)", more, subtree.node.state().word());
  }

  /** Nodes as trees: each node once, below the first of its parents that is shown. */
  private static final class Forest {
    private final List<Subtree> roots = new ArrayList<>();
    private final int size;

    /**
     * Builds the trees.
     *
     * @param nodes in the order of siblings
     */
    Forest(Collection<NodeView> nodes) {
      size = nodes.size();
      Map<Long, Subtree> subtrees = LinkedHashMap.newLinkedHashMap(size);
      nodes.forEach(node -> subtrees.put(node.id(), new Subtree(node)));
      for (Subtree subtree : subtrees.values()) {
        Subtree parent = null;
        for (long id : subtree.node.place().parents()) {
          parent = parent == null ? subtrees.get(id) : parent;
        }
        if (parent == null) {
          roots.add(subtree);
        } else {
          parent.below.add(subtree);
        }
      }
      addUp();
    }

    /** Without recursion: a chain may be as long as the graph. */
    private void addUp() {
      List<Subtree> order = new ArrayList<>(roots);
      for (int i = 0; i < order.size(); i++) {
        order.addAll(order.get(i).below);
      }
      order.reversed().forEach(Subtree::addUp);
    }

    List<Subtree> roots() {
      return roots;
    }

    int size() {
      return size;
    }

    /** A node and its descendants. */
    static final class Subtree {
      /** The most urgent states first. */
      static final Comparator<Subtree> URGENT_FIRST =
          Comparator.comparingInt(subtree -> subtree.urgency);

      final NodeView node;
      final List<Subtree> below = new ArrayList<>();

      /** The number of nodes, including this one. */
      int size = 1;

      /** The state of all of them; null if they have different states. */
      @Nullable State common;

      private int urgency;

      private Subtree(NodeView node) {
        this.node = node;
        common = node.state();
        urgency = node.state().urgency();
      }

      private void addUp() {
        for (Subtree subtree : below) {
          size += subtree.size;
          common = common == subtree.common ? common : null;
          urgency = Math.min(urgency, subtree.urgency);
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
    private final NodeLine.Colours colours;
    private ScreenSize size;
    private long askedNanos;
    private int drawn;
    private String note = "";

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
      colours = NodeLine.Colours.on(true);
      size = screen.get();
      askedNanos = System.nanoTime();
    }

    /** Sets a line that is drawn below the graph from now on; empty for none. */
    public void note(String line) {
      note = line;
    }

    /**
     * Draws the current graph.
     *
     * @param nowMillis the time, in milliseconds since 1970
     */
    public void draw(KnownNodes known, long nowMillis) {
      if (System.nanoTime() - askedNanos > SIZE_NANOS) {
        askedNanos = System.nanoTime();
        size = screen.get();
      }
      // One line for the counts, one for the number of missing nodes, one for the cursor.
      int fit = Math.max(1, size.rows() - (note.isEmpty() ? 3 : 4));
      int most = limit == 0 ? fit : Math.min(limit, fit);
      List<String> lines = new ArrayList<>(TreeLines.of(known.nodes(), most, colours, nowMillis));
      lines.add(known.summary());
      if (!note.isEmpty()) {
        lines.add(note);
      }
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

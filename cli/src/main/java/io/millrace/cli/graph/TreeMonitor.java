package io.millrace.cli.graph;

import io.millrace.cli.graph.view.LiveTree;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.Seen;
import io.millrace.cli.graph.view.State;
import java.util.Collection;
import java.util.List;

/** Draws a tree on a screen, at most ten times a second, and once a second while a node runs. */
final class TreeMonitor implements Monitor {
  private static final long ROUND_NANOS = 100_000_000;
  private static final long SECOND_NANOS = 1_000_000_000;

  private final LiveTree tree;
  private long drawnNanos = System.nanoTime() - SECOND_NANOS;
  private boolean stale;

  TreeMonitor(LiveTree tree) {
    this.tree = tree;
  }

  @Override
  public void show(Seen seen, List<NodeView> changed, Collection<Long> removed) {
    stale = true;
    tick(seen);
  }

  @Override
  public void tick(Seen seen) {
    long rested = System.nanoTime() - drawnNanos;
    boolean moving = seen.count(State.RUNNING) > 0 && rested >= SECOND_NANOS;
    if (moving || (stale && rested >= ROUND_NANOS)) {
      draw(seen);
    }
  }

  @Override
  public boolean sumsUp() {
    return true;
  }

  @Override
  public void end(Seen seen) {
    draw(seen);
  }

  private void draw(Seen seen) {
    tree.draw(seen, System.currentTimeMillis());
    drawnNanos = System.nanoTime();
    stale = false;
  }
}

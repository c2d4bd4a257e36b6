package io.millrace.cli.graph;

import io.millrace.cli.graph.view.Feed;
import io.millrace.cli.graph.view.News;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.Seen;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Takes in the news of a graph and shows them until something is so. */
final class Following {
  private static final long TICK_MILLIS = 100;

  private final Feed feed;
  private final Seen seen;
  private final Monitor monitor;
  private boolean begun;

  Following(Feed feed, Seen seen, Monitor monitor) {
    this.feed = feed;
    this.seen = seen;
    this.monitor = monitor;
  }

  /** Whether who watches was told already how many nodes are in which state. */
  boolean hasSummedUp() {
    return monitor.sumsUp();
  }

  /**
   * Goes on until that is so, or until then.
   *
   * @param endNanos by {@link System#nanoTime()}
   * @return whether it is so
   */
  boolean until(BooleanSupplier end, long endNanos) throws InterruptedException {
    while (!(begun && end.getAsBoolean())) {
      long left = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
      if (left <= 0) {
        monitor.end(seen);
        return false;
      }
      News news = feed.next(Math.min(left, TICK_MILLIS));
      if (news == null) {
        monitor.tick(seen);
        continue;
      }
      begun = true;
      List<NodeView> changed = seen.learn(news);
      monitor.show(seen, changed, news.removed());
    }
    monitor.end(seen);
    return true;
  }
}

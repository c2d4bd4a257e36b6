package io.millrace.cli.graph;

import io.millrace.cli.graph.view.Feed;
import io.millrace.cli.graph.view.Feed.News;
import io.millrace.cli.graph.view.NodeLine.Paint;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.Seen;
import io.millrace.cli.graph.view.TreeLines.LiveTree;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ScreenSize;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Watches the graph. */
@Command(
    name = "watch",
    description = {
      "Shows the graph as it changes: as a tree on a screen, otherwise a line for each change. With"
          + " --json, prints each message of the server, the whole graph first."
    })
final class WatchCommand extends GraphServer implements Callable<Integer> {
  @Mixin private GraphServer.FilterOptions filter = new GraphServer.FilterOptions();

  @Mixin private Waiter.Options waiting = new Waiter.Options();

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      defaultValue = "0",
      description = "The most nodes to draw. Default: as many as fit on the screen")
  private int limit;

  @Option(
      names = "--settled",
      description = "Ends when every node has ended or is blocked; the exit code says how.")
  private boolean settled;

  @Override
  public Integer call() {
    return run(calls -> {
      if (limit < 0) {
        throw new UsageException("--limit is a number from 0, not " + limit);
      }
      String query = filter.query();
      Seen seen = Seen.all();
      try (Feed feed =
          Feed.open(
              calls, "/v1/events" + (query.isEmpty() ? "" : "?" + query), this::printMessage)) {
        Following following = new Following(feed, seen, monitor());
        boolean ended = following.until(() -> settled && seen.isSettled(), waiting.endNanos());
        if (!settled) {
          // It can have ended only by --timeout.
          return ExitCode.OK;
        }
        if (!ended) {
          return ExitCode.TIMED_OUT;
        }
        return seen.isWell() ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
      }
    });
  }

  private void printMessage(byte[] message) {
    if (json()) {
      out().println(new String(message, StandardCharsets.UTF_8));
      out().flush();
    }
  }

  private Monitor monitor() {
    if (json()) {
      return Monitor.SILENT;
    }
    if (terminal().screen()) {
      return new Monitor.Tree(new LiveTree(out(), ScreenSize::ask, limit));
    }
    return new NewOnly(new Monitor.Lines(out(), Paint.PLAIN), terminal());
  }

  /** Prints one line for the nodes that exist at the start, of which there may be 100,000. */
  private static final class NewOnly implements Monitor {
    private final Monitor lines;
    private final Terminal terminal;
    private boolean begun;

    NewOnly(Monitor lines, Terminal terminal) {
      this.lines = lines;
      this.terminal = terminal;
    }

    @Override
    public void show(Seen seen, List<NodeView> changed, Collection<Long> removed) {
      if (begun) {
        lines.show(seen, changed, removed);
      } else {
        terminal.err().println("watching: " + seen.summary());
      }
      begun = true;
    }
  }

  /** Applies the messages of a feed and shows the changes, until a condition holds. */
  static final class Following {
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

    /** Whether the monitor has already shown how many nodes are in which state. */
    boolean hasSummedUp() {
      return monitor.sumsUp();
    }

    /**
     * Continues until the condition holds or the time is over.
     *
     * @param endNanos by {@link System#nanoTime()}
     * @return whether the condition holds
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
}

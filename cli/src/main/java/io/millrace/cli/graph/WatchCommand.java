package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphFeed;
import io.millrace.cli.graph.view.GraphFeed.Message;
import io.millrace.cli.graph.view.KnownNodes;
import io.millrace.cli.graph.view.NodeLine.Colours;
import io.millrace.cli.graph.view.NodeView;
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
      KnownNodes known = KnownNodes.all();
      try (GraphFeed feed =
          GraphFeed.open(
              calls, "/v1/events" + (query.isEmpty() ? "" : "?" + query), this::printMessage)) {
        FeedFollower following = new FeedFollower(feed, known, monitor());
        boolean ended = following.until(() -> settled && known.isSettled(), waiting.endNanos());
        if (!settled) {
          // Only --timeout can have ended it.
          return ExitCode.OK;
        }
        if (!ended) {
          return ExitCode.TIMED_OUT;
        }
        return known.isSuccessful() ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
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
    return new ChangesOnly(new Monitor.Lines(out(), Colours.OFF), terminal());
  }

  /** Prints one line for the nodes that exist at the start, of which there may be 100,000. */
  private static final class ChangesOnly implements Monitor {
    private final Monitor lines;
    private final Terminal terminal;
    private boolean begun;

    ChangesOnly(Monitor lines, Terminal terminal) {
      this.lines = lines;
      this.terminal = terminal;
    }

    @Override
    public void show(KnownNodes known, List<NodeView> changed, Collection<Long> removed) {
      if (begun) {
        lines.show(known, changed, removed);
      } else {
        terminal.err().println("watching: " + known.summary());
      }
      begun = true;
    }
  }

  /** Applies the messages of a feed and shows the changes, until a condition holds. */
  static final class FeedFollower {
    private static final long TICK_MILLIS = 100;

    private final GraphFeed feed;
    private final KnownNodes known;
    private final Monitor monitor;
    private boolean begun;

    FeedFollower(GraphFeed feed, KnownNodes known, Monitor monitor) {
      this.feed = feed;
      this.known = known;
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
          monitor.end(known);
          return false;
        }
        Message message = feed.next(Math.min(left, TICK_MILLIS));
        if (message == null) {
          monitor.tick(known);
          continue;
        }
        begun = true;
        List<NodeView> changed = known.apply(message);
        monitor.show(known, changed, message.removed());
      }
      monitor.end(known);
      return true;
    }
  }
}

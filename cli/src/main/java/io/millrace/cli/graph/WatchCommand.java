package io.millrace.cli.graph;

import io.millrace.cli.graph.view.Feed;
import io.millrace.cli.graph.view.LiveTree;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.Paint;
import io.millrace.cli.graph.view.Seen;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ScreenSize;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Watches the graph. */
@Command(
    name = "watch",
    description = {
      "Shows the graph as it changes: on a screen as a tree, elsewhere a line for every change, and"
          + " with --json every message of the server, the whole graph first."
    })
final class WatchCommand extends GraphCommand {
  @Mixin private FilterOptions filter = new FilterOptions();

  @Mixin private Waiter.Options waiting = new Waiter.Options();

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      defaultValue = "0",
      description = "The most nodes to draw. Default: as many as fit the screen")
  private int limit;

  @Option(
      names = "--settled",
      description = "Ends once nothing more happens by itself, and exits by how it all ended.")
  private boolean settled;

  WatchCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws InterruptedException {
    if (limit < 0) {
      throw new UsageException("--limit is a number from 0, not " + limit);
    }
    String query = filter.query();
    Seen seen = Seen.all();
    try (Feed feed =
        Feed.open(calls, "/v1/events" + (query.isEmpty() ? "" : "?" + query), this::printMessage)) {
      Following following = new Following(feed, seen, monitor());
      boolean ended = following.until(() -> settled && seen.isSettled(), waiting.endNanos());
      if (!settled) {
        // Only the time can have ended it, as was asked for.
        return ExitCode.OK;
      }
      if (!ended) {
        return ExitCode.TIMED_OUT;
      }
      return seen.isWell() ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
    }
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
      return new TreeMonitor(new LiveTree(out(), ScreenSize::ask, limit));
    }
    return new NewOnly(new LineMonitor(out(), Paint.PLAIN), terminal());
  }

  /** What is there already is told in one line: it may be a hundred thousand nodes. */
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
}

package io.millrace.cli.graph;

import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.Seen;
import io.millrace.cli.graph.view.State;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.StopSignals;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The wait for a graph that was added, with what happens when somebody wants it to stop. */
final class GraphRun {
  private static final int SHOWN = 10;

  private final JsonCalls calls;
  private final Terminal terminal;
  private final Following following;
  private final Seen seen;
  private final AtomicInteger stops = new AtomicInteger();

  GraphRun(JsonCalls calls, Terminal terminal, Following following, Seen seen) {
    this.calls = calls;
    this.terminal = terminal;
    this.following = following;
    this.seen = seen;
  }

  /** Waits until it has settled, or until then, and gives the exit code. */
  int until(long endNanos) throws InterruptedException {
    StopSignals.listen(stops::incrementAndGet);
    int heard = 0;
    while (true) {
      int known = heard;
      boolean inTime = following.until(() -> seen.isSettled() || stops.get() > known, endNanos);
      if (seen.isSettled() && inTime) {
        return told();
      }
      if (!inTime) {
        terminal.err().println("millrace: the time is over: " + seen.summary());
        return ExitCode.TIMED_OUT;
      }
      heard = stops.get();
      if (heard > 1) {
        throw new CommandException(
            ExitCode.FAILURE, "stopped; what runs is left to the server: " + seen.summary());
      }
      end();
    }
  }

  private void end() {
    terminal.err().println("millrace: ending what was added; again to leave it to the server");
    List<String> open =
        seen.nodes().stream()
            .filter(node -> !node.state().isTerminal())
            .map(node -> String.valueOf(node.id()))
            .toList();
    try {
      new Killing(calls, null, null).kill(open, (_, _) -> {});
    } catch (CommandException | RejectedException e) {
      terminal.err().println("millrace: cannot end all: " + e.getMessage());
    }
  }

  private int told() {
    List<NodeView> bad =
        seen.nodes().stream()
            .filter(node -> node.state() == State.FAILED || node.state() == State.KILLED)
            .toList();
    for (NodeView node : bad.subList(0, Math.min(SHOWN, bad.size()))) {
      String reason = node.reason().isEmpty() ? "" : ": " + node.reason();
      String what = node.id() + " " + node.title() + " " + node.state().word() + reason;
      terminal.err().println("millrace: " + Table.printable(what));
    }
    if (bad.size() > SHOWN) {
      terminal.err().println("millrace: and " + (bad.size() - SHOWN) + " more");
    }
    if (!following.hasSummedUp()) {
      terminal.err().println(seen.summary());
    }
    return seen.isWell() ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
  }
}

package io.millrace.cli.graph;

import io.millrace.cli.graph.file.GraphFile;
import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.graph.view.GraphFeed;
import io.millrace.cli.graph.view.KnownNodes;
import io.millrace.cli.graph.view.NodeLine.Colours;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.State;
import io.millrace.cli.graph.view.TreeLines.LiveTree;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.remote.WaitReasons;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ScreenSize;
import io.millrace.cli.terminal.StopSignals;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** Runs the graph of a file. */
@Command(
    name = "run",
    description = {
      "Adds the graph of a file, all of it or nothing, and shows its progress until every node has"
          + " ended or is blocked; the exit code says how. With --unique, nothing is added while an"
          + " earlier graph with this key has not ended, and that graph is shown instead.",
      "Ctrl-C kills the nodes that were added and waits for their end; a second Ctrl-C leaves them"
          + " to the server. A graph that an earlier command has added is left to the server."
    })
final class RunCommand extends GraphServer implements Callable<Integer> {
  private static final String EVENTS = "/v1/events";

  @Mixin private ImportCommand.FileArgument file = new ImportCommand.FileArgument();

  @Mixin private GraphServer.UniqueOptions unique = new GraphServer.UniqueOptions();

  @Mixin private GraphServer.StartOptions start = new GraphServer.StartOptions();

  @Mixin private Waiter.Options waiting = new Waiter.Options();

  @Option(
      names = {"-d", "--detach"},
      description = "Prints the id of each node and ends once all are added.")
  private boolean detach;

  @Option(
      names = {"-o", "--output"},
      description = "Prints the output of the nodes, each line after the name of its node.")
  private boolean output;

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints only failures.")
  private boolean quiet;

  @Override
  public Integer call() {
    return run(calls -> {
      GraphFile graph = file.read(terminal());
      GraphUpload addition = new GraphUpload(new GraphCalls(calls), file.name(), file.parents());
      addition.add(graph, Integer.MAX_VALUE, start.query(unique));
      addition.reportDuplicate(terminal());
      if (detach) {
        addition.printIds(out(), json());
        return ExitCode.OK;
      }
      KnownNodes known =
          KnownNodes.from(addition.ids().values().stream().map(Long::valueOf).toList());
      int code = follow(calls, addition, known);
      if (json()) {
        out().println(ends(addition, known));
      }
      return code == ExitCode.OK && addition.gone() > 0 ? ExitCode.NOTHING : code;
    });
  }

  private int follow(JsonCalls calls, GraphUpload addition, KnownNodes known)
      throws InterruptedException {
    Monitor monitor = monitor(calls);
    try (GraphFeed feed = feed(calls, addition)) {
      WatchCommand.FeedFollower following = new WatchCommand.FeedFollower(feed, known, monitor);
      GraphRun graphRun = new GraphRun(calls, terminal(), following, known, !output || json());
      return graphRun.until(waiting.endNanos(), !addition.isDuplicate());
    }
  }

  /** Starts with the whole graph if nodes may have been added below a graph that was there. */
  private static GraphFeed feed(JsonCalls calls, GraphUpload addition) {
    return addition.isDuplicate()
        ? GraphFeed.open(calls, EVENTS, _ -> {})
        : GraphFeed.after(addition.message(), calls, EVENTS);
  }

  private Monitor monitor(JsonCalls calls) {
    WaitReasons reasons = new WaitReasons(calls, "node");
    if (terminal().screen() && !quiet && !json() && !output) {
      LiveTree tree = new LiveTree(out(), ScreenSize::ask, 0);
      return new Monitor.Explained(new Monitor.Tree(tree), reasons, tree::note);
    }
    return new Monitor.Explained(lines(calls), reasons, terminal()::say);
  }

  private Monitor lines(JsonCalls calls) {
    if (output && !json()) {
      Monitor states =
          quiet
              ? Monitor.SILENT
              : new Monitor.Lines(terminal().err(), Colours.on(terminal().watched()));
      return new Monitor.Output(calls, out(), states);
    }
    if (quiet || json()) {
      return Monitor.SILENT;
    }
    return new Monitor.Lines(out(), Colours.OFF);
  }

  private static ObjectNode ends(GraphUpload addition, KnownNodes known) {
    ObjectNode ends = ServerCommand.object();
    addition
        .ids()
        .forEach((key, id) -> {
          var node = known.find(Long.parseLong(id));
          ObjectNode end = ends.putObject(key).put("id", id);
          end.put("state", node == null ? null : node.state().word());
          if (addition.isDuplicate()) {
            end.put("duplicate", true);
          }
        });
    return ends;
  }

  /** Waits for a graph that was added, and kills it on Ctrl-C. */
  private static final class GraphRun {
    private static final int SHOWN = 10;

    private final JsonCalls calls;
    private final Terminal terminal;
    private final WatchCommand.FeedFollower following;
    private final KnownNodes known;

    /** Whether to print the end of what a failed node wrote to standard error. */
    private final boolean withOutput;

    private final AtomicInteger stops = new AtomicInteger();

    GraphRun(
        JsonCalls calls,
        Terminal terminal,
        WatchCommand.FeedFollower following,
        KnownNodes known,
        boolean withOutput) {
      this.calls = calls;
      this.terminal = terminal;
      this.following = following;
      this.known = known;
      this.withOutput = withOutput;
    }

    /**
     * Waits until the graph has settled or the time is over, and returns the exit code.
     *
     * @param own whether this command has added the graph, and may kill it
     */
    int until(long endNanos, boolean own) throws InterruptedException {
      StopSignals.listen(stops::incrementAndGet);
      int heard = 0;
      while (true) {
        int before = heard;
        boolean inTime = following.until(() -> known.isSettled() || stops.get() > before, endNanos);
        if (known.isSettled() && inTime) {
          return told();
        }
        if (!inTime) {
          terminal.say("--timeout expired: " + known.summary());
          return ExitCode.TIMED_OUT;
        }
        heard = stops.get();
        if (heard > 1 || !own) {
          throw new CommandException(
              ExitCode.FAILURE,
              "stopped; running nodes are left to the server: " + known.summary());
        }
        end();
      }
    }

    private void end() {
      terminal.say(
          "killing the nodes that were added; press Ctrl-C again to leave them to the server");
      List<String> open =
          known.nodes().stream()
              .filter(node -> !node.state().isTerminal())
              .map(node -> String.valueOf(node.id()))
              .toList();
      try {
        new KillCommand.KillRequests(calls, null, null).kill(open, (_, _) -> {});
      } catch (CommandException | RejectedException e) {
        terminal.say("cannot kill all nodes: " + e.getMessage());
      }
    }

    private int told() {
      List<NodeView> bad =
          known.nodes().stream()
              .filter(node -> node.state() == State.FAILED || node.state() == State.KILLED)
              .toList();
      for (NodeView node : bad.subList(0, Math.min(SHOWN, bad.size()))) {
        String reason = node.reason().isEmpty() ? "" : ": " + node.reason();
        String what = node.id() + " " + node.title() + " " + node.state().word() + reason;
        terminal.say(Table.printable(what));
        if (withOutput && node.state() == State.FAILED) {
          WaitReasons.printLastLines(terminal, GraphCalls.stderr(calls, Long.toString(node.id())));
        }
      }
      if (bad.size() > SHOWN) {
        terminal.say("and " + (bad.size() - SHOWN) + " more");
      }
      if (!following.hasSummedUp()) {
        terminal.err().println(known.summary());
      }
      return known.isSuccessful() ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
    }
  }
}

package io.millrace.cli.graph;

import io.millrace.cli.graph.file.GraphFile;
import io.millrace.cli.graph.view.Feed;
import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.graph.view.LiveTree;
import io.millrace.cli.graph.view.Paint;
import io.millrace.cli.graph.view.Seen;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ScreenSize;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Runs the graph of a file. */
@Command(
    name = "run",
    description = {
      "Adds the graph of a file, all of it or nothing, shows how it goes until nothing more happens"
          + " by itself, and exits by how it ended.",
      "Ctrl-C ends what the file added, and waits for that; a second one leaves it to the server."
    })
final class RunCommand extends GraphCommand {
  @Mixin private FileArgument file = new FileArgument();

  @Mixin private Waiter.Options waiting = new Waiter.Options();

  @Option(
      names = {"-d", "--detach"},
      description = "Ends once all is added, and prints the id of each node.")
  private boolean detach;

  @Option(
      names = {"-o", "--output"},
      description = "Prints what the nodes print, each line after the name of its node.")
  private boolean output;

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints only what went wrong.")
  private boolean quiet;

  RunCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws InterruptedException {
    GraphFile graph = file.read(terminal());
    Addition addition = new Addition(new GraphCalls(calls), file.name(), file.parents());
    addition.add(graph, Integer.MAX_VALUE);
    if (detach) {
      printIds(addition);
      return ExitCode.OK;
    }
    Seen seen = Seen.from(addition.ids().values().stream().map(Long::valueOf).toList());
    Monitor monitor = monitor(calls);
    int code;
    try (Feed feed = Feed.after(addition.news(), calls, "/v1/events")) {
      Following following = new Following(feed, seen, monitor);
      code = new GraphRun(calls, terminal(), following, seen).until(waiting.endNanos());
    }
    if (json()) {
      out().println(ends(addition, seen));
    }
    return code;
  }

  private Monitor monitor(JsonCalls calls) {
    if (output && !json()) {
      Monitor states =
          quiet
              ? Monitor.SILENT
              : new LineMonitor(terminal().err(), Paint.on(terminal().watched()));
      return new OutputMonitor(calls, out(), states);
    }
    if (quiet || json()) {
      return Monitor.SILENT;
    }
    if (terminal().screen()) {
      return new TreeMonitor(new LiveTree(out(), ScreenSize::ask, 0));
    }
    return new LineMonitor(out(), Paint.PLAIN);
  }

  private void printIds(Addition addition) {
    if (json()) {
      ObjectNode ids = JsonNodeFactory.instance.objectNode();
      addition.ids().forEach(ids::put);
      out().println(ids);
    } else {
      addition.ids().forEach((key, id) -> out().println(Table.printable(key) + "  " + id));
    }
  }

  private static ObjectNode ends(Addition addition, Seen seen) {
    ObjectNode ends = JsonNodeFactory.instance.objectNode();
    addition
        .ids()
        .forEach((key, id) -> {
          var node = seen.find(Long.parseLong(id));
          ends.putObject(key).put("id", id).put("state", node == null ? null : node.state().word());
        });
    return ends;
  }
}

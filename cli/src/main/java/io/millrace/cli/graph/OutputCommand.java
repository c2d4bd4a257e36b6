package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.graph.view.State;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Shows the output of a node. */
@Command(
    name = "output",
    aliases = "log",
    description = {
      "Writes what a node has printed to standard output; with --follow as it comes, until the node"
          + " has ended, and exits by how it did."
    })
final class OutputCommand extends GraphCommand {
  @Parameters(paramLabel = "ID", description = "The node's id.")
  private String id = "";

  @Option(names = "--stderr", description = "What it has printed to standard error instead.")
  private boolean stderr;

  @Option(
      names = {"-m", "--mixed"},
      description = "Both, in the order in which they came.")
  private boolean mixed;

  @Option(
      names = {"-f", "--follow"},
      description = "Goes on as long as the node may print more.")
  private boolean follow;

  OutputCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws InterruptedException {
    String node = NodeArguments.checked(id);
    if (stderr && mixed) {
      throw new UsageException("--mixed has what --stderr has; name one of them");
    }
    String key = stderr ? "stderr" : mixed ? "mixedout" : "stdout";
    if (json()) {
      out().println(calls.get(GraphCalls.path(node, key)));
      return ExitCode.OK;
    }
    GraphCalls graph = new GraphCalls(calls);
    JsonNode metadata = graph.find(node);
    OutputFollower output = new OutputFollower(calls, node, key, this::write);
    output.read();
    if (!follow) {
      return ExitCode.OK;
    }
    State state = State.of(metadata.path("state").asString(""));
    while (!state.isSettled()) {
      Thread.sleep(output.restMillis());
      // Asked before the output is read, so that nothing is missed that came before the end.
      state = State.of(graph.find(node).path("state").asString(""));
      output.read();
    }
    return state.isWell() ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
  }

  private void write(String text) {
    out().print(text);
    out().flush();
  }
}

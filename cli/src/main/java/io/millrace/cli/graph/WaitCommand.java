package io.millrace.cli.graph;

import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Waits for nodes. */
@Command(name = "wait", description = "Waits until nodes have ended, and exits by how they did.")
final class WaitCommand extends GraphCommand {
  @Mixin private NodeArguments nodes = new NodeArguments();

  @Mixin private Waiter.Options options = new Waiter.Options();

  @Option(
      names = "--settled",
      description =
          "A blocked node counts as one that has ended; else it is waited for until what blocks it"
              + " was retried.")
  private boolean settled;

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints no ends but bad ones.")
  private boolean quiet;

  WaitCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws IOException, InterruptedException {
    List<String> ids = nodes.read(terminal());
    var ends = new NodeWaiter.Ends(options.endNanos(), settled, json(), quiet);
    return new NodeWaiter(calls, terminal(), ends).until(ids);
  }
}

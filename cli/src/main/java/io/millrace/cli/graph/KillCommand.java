package io.millrace.cli.graph;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Ends nodes. */
@Command(
    name = "kill",
    description =
        "Ends nodes that run, and those that wait at once; of a group, all in it. Nodes that have"
            + " ended stay as they are.")
final class KillCommand extends GraphCommand {
  @Mixin private NodeArguments nodes = new NodeArguments();

  @Option(
      names = {"-s", "--signal"},
      paramLabel = "SIGNAL",
      description = "What a command gets first. Default: TERM")
  private @Nullable String signal;

  @Option(
      names = {"-g", "--grace"},
      paramLabel = "TIME",
      converter = Durations.class,
      description = "How long it has until it gets KILL. Default: 5s")
  private @Nullable Duration grace;

  @Option(
      names = {"-w", "--wait"},
      description = "Waits until all have ended.")
  private boolean wait;

  KillCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws IOException, InterruptedException {
    List<String> ids = nodes.read(terminal());
    Killing killing = new Killing(calls, signal, grace);
    killing.kill(
        ids,
        (id, state) -> {
          if (!wait) {
            out().println(json() ? line(id, state) : id + "  " + state);
          }
        });
    if (!wait) {
      return ExitCode.OK;
    }
    var ends = NodeWaiter.Ends.settled(json(), false);
    int code = new NodeWaiter(calls, terminal(), ends).until(ids);
    // That they were killed is what was asked for.
    return code == ExitCode.UNSUCCESSFUL ? ExitCode.OK : code;
  }

  private static String line(String id, String state) {
    return "{\"id\":\"" + id + "\",\"state\":\"" + state + "\"}";
  }
}

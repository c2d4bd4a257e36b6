package io.millrace.cli.graph;

import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.JsonCalls;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Kills nodes. */
@Command(
    name = "kill",
    description =
        "Kills nodes that run or wait; for a group, all nodes in it. Nodes that have ended stay as"
            + " they are.")
final class KillCommand extends GraphServer implements Callable<Integer> {
  @Mixin private GraphServer.Nodes nodes = new GraphServer.Nodes();

  @Option(
      names = {"-s", "--signal"},
      paramLabel = "SIGNAL",
      description = "The signal to send first. Default: TERM")
  private @Nullable String signal;

  @Option(
      names = {"-g", "--grace"},
      paramLabel = "TIME",
      converter = Durations.class,
      description = "The time until KILL is sent. Default: 5s")
  private @Nullable Duration grace;

  @Option(
      names = {"-w", "--wait"},
      description = "Waits until all have ended.")
  private boolean wait;

  @Override
  public Integer call() {
    return run(calls -> {
      List<String> ids = nodes.read(terminal());
      KillRequests killing = new KillRequests(calls, signal, grace);
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
      var ends = NodeWaiter.WaitOptions.settled(false);
      int code = new NodeWaiter(calls, this, ends).until(ids);
      // Killed nodes are a success for this command.
      return code == ExitCode.UNSUCCESSFUL ? ExitCode.OK : code;
    });
  }

  private static String line(String id, String state) {
    return "{\"id\":\"" + id + "\",\"state\":\"" + state + "\"}";
  }

  /** Sends requests to kill nodes. */
  static final class KillRequests {
    /** The maximum number of nodes in a request, which contains their ids in its query. */
    private static final int WINDOW = 200;

    private final JsonCalls calls;
    private final String how;

    /**
     * With a signal and a grace period.
     *
     * @param signal null for the default of the server
     * @param grace null for the default of the server
     */
    KillRequests(JsonCalls calls, @Nullable String signal, @Nullable Duration grace) {
      this.calls = calls;
      how =
          (signal == null ? "" : "&signal=" + JsonCalls.part(signal))
              + (grace == null ? "" : "&grace=" + Durations.seconds(grace).toPlainString());
    }

    /**
     * Starts to kill nodes.
     *
     * @param told is called with each id and the state of the node after the request
     */
    void kill(List<String> ids, BiConsumer<String, String> told) {
      for (int from = 0; from < ids.size(); from += WINDOW) {
        List<String> some = ids.subList(from, Math.min(from + WINDOW, ids.size()));
        String path = "/v1/scheduler/kill?id=" + String.join(",", some) + how;
        JsonNode states = ServerCommand.orNotFound(() -> calls.put(path, ServerCommand.object()));
        some.forEach(id -> told.accept(id, states.path(id).asString("ending")));
      }
    }
  }
}

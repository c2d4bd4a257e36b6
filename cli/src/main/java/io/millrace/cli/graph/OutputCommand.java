package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.graph.view.State;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Shows the output of a node. */
@Command(
    name = "output",
    aliases = "log",
    description = {
      "Prints the standard output of a node. With --follow, prints it as it is written until the"
          + " node has ended; the exit code says how."
    })
final class OutputCommand extends GraphServer implements Callable<Integer> {
  @Parameters(paramLabel = "ID", description = "The id of the node.")
  private String id = "";

  @Option(names = "--stderr", description = "Prints standard error instead.")
  private boolean stderr;

  @Option(
      names = {"-m", "--mixed"},
      description = "Prints both outputs, in the order in which they were written.")
  private boolean mixed;

  @Option(
      names = {"-f", "--follow"},
      description = "Continues until the node has ended.")
  private boolean follow;

  @Override
  public Integer call() {
    return run(calls -> {
      String node = GraphServer.checked(id);
      if (stderr && mixed) {
        throw new UsageException("--stderr and --mixed cannot be combined");
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
        // Read before the output, so that output written before the end is not missed.
        state = State.of(graph.find(node).path("state").asString(""));
        output.read();
      }
      return state.isSuccessful() ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
    });
  }

  private void write(String text) {
    out().print(text);
    out().flush();
  }

  /** Reads one output of a node, page by page, and remembers its place. Not thread-safe. */
  static final class OutputFollower {
    private static final long SHORTEST_REST_MILLIS = 100;
    private static final long LONGEST_REST_MILLIS = 1_000;
    private static final int CONFLICT = 409;

    private final JsonCalls calls;
    private final String path;
    private final Consumer<String> to;
    private GraphCalls.Page where = GraphCalls.Page.BEGIN;
    private String page = "";
    private long restMillis = SHORTEST_REST_MILLIS;

    /**
     * Nothing read yet.
     *
     * @param to receives each piece of text
     */
    OutputFollower(JsonCalls calls, String id, String key, Consumer<String> to) {
      this.calls = calls;
      path = GraphCalls.path(id, key);
      this.to = to;
    }

    /** Reads new output and returns whether there was any. */
    boolean read() {
      boolean found = false;
      boolean more = true;
      while (more) {
        JsonNode response = ask();
        String text = text(response);
        if (!text.startsWith(page)) {
          // Another attempt of the node has started, which has its own output.
          page = "";
        }
        if (text.length() > page.length()) {
          to.accept(text.substring(page.length()));
          found = true;
        }
        GraphCalls.Page next = GraphCalls.Page.after(response);
        more = next != null;
        page = next == null ? text : "";
        where = next == null ? where.in(response) : next;
      }
      restMillis = found ? SHORTEST_REST_MILLIS : Math.min(2 * restMillis, LONGEST_REST_MILLIS);
      return found;
    }

    /** How long to wait before the next read; it grows while nothing new is written. */
    long restMillis() {
      return restMillis;
    }

    private JsonNode ask() {
      return ServerCommand.orNotFound(() -> {
        try {
          return calls.get(where.of(path, ""));
        } catch (RejectedException e) {
          if (e.status() != CONFLICT || where.start().isEmpty()) {
            throw e;
          }
          // Another attempt has replaced the output.
          where = GraphCalls.Page.BEGIN;
          page = "";
          return calls.get(path);
        }
      });
    }

    private static String text(JsonNode response) {
      JsonNode data = response.path("data");
      if (data.isNull() || data.isMissingNode()) {
        return "";
      }
      return data.isString() ? data.asString() : data.toString();
    }
  }
}

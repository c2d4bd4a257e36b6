package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.graph.view.State;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.store.StoreException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Waits for graph nodes. */
final class NodeWaiter extends Waiter<State> {
  /** The maximum number of nodes in a request, which contains their ids in its query. */
  private static final int WINDOW = 200;

  private static final int NOT_THERE = 404;

  private final JsonCalls calls;
  private final WaitOptions ends;

  /**
   * What to wait for and what to print.
   *
   * @param endNanos when to give up, by {@link System#nanoTime()}
   * @param settled whether to stop waiting for a node when it is blocked
   * @param quiet whether to print only nodes that did not succeed, to standard error
   */
  record WaitOptions(long endNanos, boolean settled, boolean quiet) {
    /** Waits until all have ended or are blocked, without a time limit. */
    static WaitOptions settled(boolean quiet) {
      return new WaitOptions(System.nanoTime() + Long.MAX_VALUE / 2, true, quiet);
    }
  }

  NodeWaiter(JsonCalls calls, ServerCommand server, WaitOptions ends) {
    super(server, calls, "node", ends.endNanos, WINDOW);
    this.calls = calls;
    this.ends = ends;
  }

  @Override
  protected void round(Set<String> window, long waitMillis) {
    // The server counts whole seconds.
    String query =
        "/v1/scheduler/wait?timeout="
            + Math.ceilDiv(waitMillis, 1_000)
            + (ends.settled ? "&until=settled" : "")
            + "&id="
            + String.join(",", window);
    JsonNode states;
    try {
      states = calls.get(query);
    } catch (RejectedException e) {
      if (e.status() != NOT_THERE) {
        throw e;
      }
      dropAbsent(window);
      if (!window.isEmpty()) {
        round(window, waitMillis);
      }
      return;
    }
    for (Map.Entry<String, JsonNode> one : states.properties()) {
      State state = State.of(one.getValue().asString(""));
      boolean end = ends.settled ? state.isSettled() : state.isTerminal();
      if (end && window.remove(one.getKey())) {
        print(one.getKey(), state);
        ended(state, state.isSuccessful());
      }
    }
  }

  /** Drops nodes that do not exist: the server refuses the request if one of them is missing. */
  private void dropAbsent(Set<String> window) {
    int before = window.size();
    for (String id : List.copyOf(window)) {
      try {
        calls.get(GraphCalls.path(id));
      } catch (RejectedException e) {
        if (e.status() != NOT_THERE) {
          throw e;
        }
        window.remove(id);
        absent(Table.printable(String.valueOf(e.getMessage())));
      }
    }
    if (window.size() == before) {
      throw new CommandException(
          ExitCode.FAILURE, "the server finds the nodes, but cannot wait for them");
    }
  }

  private void print(String id, State state) {
    if (ends.quiet && state.isSuccessful()) {
      return;
    }
    String reason = state.isSuccessful() ? "" : reason(id);
    if (ends.quiet) {
      server().terminal().say("node " + id + " is " + state.word() + reason);
    } else {
      JsonNode end = ServerCommand.object().put("id", id).put("state", state.word());
      server().print(end, id + "  " + state.word() + reason);
    }
    if (state == State.FAILED && wantsDetails()) {
      failed(id, "", GraphCalls.stderr(calls, id));
    }
  }

  private String reason(String id) {
    try {
      String reason = calls.get(GraphCalls.path(id)).path("reason").asString("");
      return reason.isEmpty() ? "" : ": " + Table.printable(reason);
    } catch (StoreException _) {
      // The state is printed without a reason.
      return "";
    }
  }

  @Override
  protected String word(State state) {
    return state.word();
  }
}

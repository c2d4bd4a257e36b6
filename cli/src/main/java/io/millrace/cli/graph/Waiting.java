package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.graph.view.State;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.client.UnreachableException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Waits for graph nodes to end, some of them at a time, and tells how each did. */
final class Waiting {
  /** How many are named in one request: their ids stand in its path. */
  private static final int WINDOW = 200;

  private static final long WATCHED_ROUND_SECONDS = 1;
  private static final long ROUND_SECONDS = 20;
  private static final int ATTEMPTS = 10;
  private static final long PAUSE_MILLIS = 500;
  private static final int NOT_THERE = 404;

  private final JsonCalls calls;
  private final Terminal terminal;
  private final Ends ends;
  private final Map<State, Integer> counts = new EnumMap<>(State.class);
  private int ended;
  private int absent;

  /**
   * What is waited for, and how it is told.
   *
   * @param endNanos when to give up, by {@link System#nanoTime()}
   * @param settled whether a blocked node counts as one that has ended
   * @param json whether ends are printed as JSON
   * @param quiet whether no ends are printed
   */
  record Ends(long endNanos, boolean settled, boolean json, boolean quiet) {}

  Waiting(JsonCalls calls, Terminal terminal, Ends ends) {
    this.calls = calls;
    this.terminal = terminal;
    this.ends = ends;
  }

  /** Until all have ended or are blocked, however long that takes. */
  static Waiting forEver(JsonCalls calls, Terminal terminal) {
    long never = System.nanoTime() + Long.MAX_VALUE / 2;
    return new Waiting(calls, terminal, new Ends(never, true, false, false));
  }

  /** The same without a word about ends. */
  Waiting quietly() {
    return new Waiting(calls, terminal, new Ends(ends.endNanos, ends.settled, ends.json, true));
  }

  /** Waits for all of them, no two the same, and gives the exit code that says how they did. */
  int until(List<String> ids) throws InterruptedException {
    try (ProgressBar bar = new ProgressBar(terminal, "ended")) {
      List<String> left = new ArrayList<>(ids);
      while (!left.isEmpty() && round(left, bar, ids.size())) {
        bar.show(ended + absent, ids.size());
      }
    }
    int pending = ids.size() - ended - absent;
    if (ids.size() > 1 || pending > 0) {
      terminal.err().println(summary(pending));
    }
    if (absent > 0) {
      return ExitCode.NOTHING;
    }
    if (pending > 0) {
      return ExitCode.TIMED_OUT;
    }
    boolean well = counts.keySet().stream().allMatch(State::isWell);
    return well ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
  }

  /** Waits for some of those that are left; false once the time is over. */
  private boolean round(List<String> left, ProgressBar bar, int all) throws InterruptedException {
    List<String> some = left.subList(0, Math.min(WINDOW, left.size()));
    long longest = terminal.watched() ? WATCHED_ROUND_SECONDS : ROUND_SECONDS;
    long nanos = ends.endNanos - System.nanoTime();
    // The server counts whole seconds.
    long seconds = TimeUnit.NANOSECONDS.toSeconds(nanos + TimeUnit.SECONDS.toNanos(1) - 1);
    JsonNode states = states(some, Math.clamp(seconds, 0, longest));
    for (Map.Entry<String, JsonNode> one : states.properties()) {
      State state = State.of(one.getValue().asString(""));
      boolean end = ends.settled ? state.isSettled() : state.isTerminal();
      if (end && some.remove(one.getKey())) {
        ended(one.getKey(), state);
      }
    }
    bar.show(ended + absent, all);
    return nanos > 0 || left.isEmpty();
  }

  private JsonNode states(List<String> some, long seconds) throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        return calls.get(
            "/v1/scheduler/wait?id="
                + String.join(",", some)
                + "&timeout="
                + seconds
                + (ends.settled ? "&until=settled" : ""));
      } catch (RejectedException e) {
        if (e.status() != NOT_THERE) {
          throw e;
        }
        dropAbsent(some);
        if (some.isEmpty()) {
          return JsonNodeFactory.instance.objectNode();
        }
      } catch (UnreachableException | StoreClosedException e) {
        again(attempt, e);
      }
    }
  }

  /** One that is not there refuses the request for all. */
  private void dropAbsent(List<String> some) {
    int before = some.size();
    for (String id : List.copyOf(some)) {
      try {
        calls.get(GraphCalls.path(id));
      } catch (RejectedException e) {
        if (e.status() != NOT_THERE) {
          throw e;
        }
        terminal.err().println("millrace: " + Table.printable(String.valueOf(e.getMessage())));
        absent++;
        some.remove(id);
      }
    }
    if (some.size() == before) {
      throw new CommandException(
          ExitCode.FAILURE, "the server knows the nodes, and cannot wait for them");
    }
  }

  /** A server that is away or about to stop may be back soon. */
  private static void again(int attempt, StoreException failure) throws InterruptedException {
    if (attempt == ATTEMPTS) {
      throw failure;
    }
    Thread.sleep(PAUSE_MILLIS);
  }

  private void ended(String id, State state) {
    ended++;
    counts.merge(state, 1, Integer::sum);
    if (ends.quiet && state.isWell()) {
      return;
    }
    String reason = state.isWell() ? "" : reason(id);
    if (ends.quiet) {
      terminal.err().println("millrace: node " + id + " is " + state.word() + reason);
    } else if (ends.json) {
      terminal.out().println("{\"id\":\"" + id + "\",\"state\":\"" + state.word() + "\"}");
    } else {
      terminal.out().println(id + "  " + state.word() + reason);
    }
  }

  private String reason(String id) {
    try {
      String reason = calls.get(GraphCalls.path(id)).path("reason").asString("");
      return reason.isEmpty() ? "" : ": " + Table.printable(reason);
    } catch (StoreException _) {
      // It is told without one.
      return "";
    }
  }

  private String summary(int pending) {
    String told =
        counts.entrySet().stream()
            .map(count -> count.getValue() + " " + count.getKey().word())
            .collect(Collectors.joining(", "));
    String missing = absent == 0 ? "" : absent + " not there";
    String open = pending == 0 ? "" : pending + " not ended";
    return List.of(open, told, missing).stream()
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(", "));
  }
}

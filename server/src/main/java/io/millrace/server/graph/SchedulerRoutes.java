package io.millrace.server.graph;

import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeWatch;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.PendingWait.Deadline;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.processes.Signal;
import io.millrace.work.Watch;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/** Requests to the scheduler: to kill nodes, to wait for their end, and to list running ones. */
record SchedulerRoutes(GraphRegistry graph) {
  private static final Duration MAX_WAIT = Duration.ofDays(365);
  private static final Duration MAX_GRACE = Duration.ofDays(1);
  private static final int MAX_SECONDS_TEXT = 20;

  /** Adds the route that only reads the store. */
  void addReadsTo(ApiRoutes api) {
    api.stale().strictQuery(Set.of("metadata")).get("/running", this::running);
  }

  void addTo(ApiRoutes api) {
    addReadsTo(api);
    api.strictQuery(Set.of("id", "signal", "grace"))
        .role(Role.OPERATOR)
        .action("graph.kill")
        .put("/scheduler/kill", this::kill);
    api.strictQuery(Set.of("id", "until", "timeout")).get("/scheduler/wait", this::await);
  }

  private Response kill(Request request) {
    List<NodeId> ids = GraphParameters.ids(request, graph);
    GraphParameters.note(request, ids);
    Long expected = GraphParameters.expected(request);
    if (expected != null && ids.size() > 1) {
      throw HttpProblem.malformed("the header If-Match is for one node, not for " + ids.size());
    }
    Kill kill = new Kill(signal(request.query()), grace(request.query()));
    graph.kill(GraphReach.caller(request), ids, kill, expected);
    ObjectNode states = Json.object();
    for (NodeId id : ids) {
      graph.node(id).ifPresent(node -> states.put(id.toString(), node.state().word()));
    }
    return Json.response(202, states);
  }

  private static String signal(Query query) {
    String given = query.text("signal").orElse(Kill.DEFAULT.signal());
    return Signal.of(given)
        .map(Signal::name)
        .orElseThrow(() ->
            HttpProblem.malformed(
                "the parameter signal must be one of " + Signal.all() + ", not " + given));
  }

  private static Duration grace(Query query) {
    return seconds(query, "grace", Kill.DEFAULT.grace(), MAX_GRACE);
  }

  /** A number of seconds, with decimals or without. */
  private static Duration seconds(Query query, String name, Duration absent, Duration most) {
    String given = query.text(name).orElse(null);
    if (given == null) {
      return absent;
    }
    try {
      if (given.length() <= MAX_SECONDS_TEXT) {
        BigDecimal seconds = new BigDecimal(given);
        if (seconds.signum() >= 0
            && seconds.compareTo(BigDecimal.valueOf(most.toSeconds())) <= 0
            && seconds.scale() <= 9) {
          return Duration.ofNanos(seconds.movePointRight(9).longValue());
        }
      }
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw HttpProblem.malformed(
        "the parameter "
            + name
            + " must be seconds from 0 to "
            + most.toSeconds()
            + ", not "
            + given);
  }

  private Response await(Request request) throws InterruptedException {
    List<NodeId> ids = GraphParameters.ids(request, graph);
    boolean untilSettled = untilSettled(request.query());
    Duration timeout = timeout(request.query(), MAX_WAIT);
    try (Watch<NodeId, GraphNode> watch = NodeWatch.begin(graph, ids, untilSettled);
        Deadline deadline = new Deadline(request, timeout)) {
      Duration step = deadline.step();
      while (watch.pending() > 0 && step.isPositive()) {
        watch.await(step);
        step = deadline.step();
      }
      ObjectNode states = Json.object();
      watch
          .states()
          .forEach((id, node) -> {
            if (node == null) {
              throw new HttpProblem(410, "node " + id + " was removed while it was waited for");
            }
            states.put(id.toString(), node.state().word());
          });
      return Json.response(states);
    }
  }

  private static boolean untilSettled(Query query) {
    String until = query.text("until").orElse("terminal");
    return switch (until) {
      case "terminal" -> false;
      case "settled" -> true;
      default ->
          throw HttpProblem.malformed(
              "the parameter until must be terminal or settled, not " + until);
    };
  }

  /** The parameter {@code timeout}, in seconds; {@code most} if it is absent. */
  static Duration timeout(Query query, Duration most) {
    return seconds(query, "timeout", most, most);
  }

  private Response running(Request request) {
    return Json.response(
        NodeShape.selected(request.query())
            .shapes(GraphReach.of(request, graph).within(graph.running())));
  }
}

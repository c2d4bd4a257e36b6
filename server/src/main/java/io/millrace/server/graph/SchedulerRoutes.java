package io.millrace.server.graph;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Query;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import tools.jackson.databind.node.ObjectNode;

/** What the scheduler is asked for: to end nodes, to wait for their end, what runs. */
final class SchedulerRoutes {
  private static final Duration MOST_WAIT = Duration.ofDays(365);
  private static final int MOST_GRACE_SECONDS = 86_400;
  private static final int MOST_GRACE_TEXT = 20;
  private static final Set<String> SIGNALS =
      Set.of("TERM", "INT", "HUP", "QUIT", "KILL", "ABRT", "ALRM", "PIPE", "USR1", "USR2");

  private final GraphRegistry graph;
  private final Waiting waiting;

  SchedulerRoutes(GraphRegistry graph, Waiting waiting) {
    this.graph = graph;
    this.waiting = waiting;
  }

  void mount(GraphMount mount) {
    mount.add(HttpMethod.PUT, "/scheduler/kill", this::kill);
    mount.add(HttpMethod.GET, "/scheduler/wait", (request, _) -> await(request));
    mount.add(HttpMethod.GET, "/running", (request, _) -> running(request));
  }

  private Reply kill(Request request, Caller caller) {
    List<NodeId> ids = Ids.ofList(request);
    graph.kill(caller, ids, new Kill(signal(request.query()), grace(request.query())));
    ObjectNode states = Json.object();
    for (NodeId id : ids) {
      graph.node(id).ifPresent(node -> states.put(id.toString(), node.state().word()));
    }
    return Json.reply(202, states);
  }

  private static String signal(Query query) {
    String given = query.text("signal").orElse(Kill.DEFAULT.signal());
    String upper = given.toUpperCase(Locale.ROOT);
    String name = upper.startsWith("SIG") ? upper.substring(3) : upper;
    if (!SIGNALS.contains(name)) {
      throw HttpProblem.malformed(
          "the parameter signal must be one of "
              + String.join(", ", new TreeSet<>(SIGNALS))
              + ", not "
              + given);
    }
    return name;
  }

  private static Duration grace(Query query) {
    String given = query.text("grace").orElse(null);
    if (given == null) {
      return Kill.DEFAULT.grace();
    }
    try {
      if (given.length() <= MOST_GRACE_TEXT) {
        BigDecimal seconds = new BigDecimal(given);
        if (seconds.signum() >= 0
            && seconds.compareTo(BigDecimal.valueOf(MOST_GRACE_SECONDS)) <= 0
            && seconds.scale() <= 9) {
          return Duration.ofNanos(seconds.movePointRight(9).longValue());
        }
      }
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw HttpProblem.malformed(
        "the parameter grace must be seconds from 0 to " + MOST_GRACE_SECONDS + ", not " + given);
  }

  private Reply await(Request request) throws InterruptedException {
    StateWatch watch = new StateWatch(graph, Ids.ofList(request), end(request.query()));
    waiting.until(watch, request, timeout(request.query(), MOST_WAIT));
    return Json.reply(watch.shape());
  }

  private static Predicate<NodeState> end(Query query) {
    String until = query.text("until").orElse("terminal");
    return switch (until) {
      case "terminal" -> NodeState::isTerminal;
      case "settled" -> NodeState::isSettled;
      default ->
          throw HttpProblem.malformed(
              "the parameter until must be terminal or settled, not " + until);
    };
  }

  /** The parameter {@code timeout}, in seconds; {@code most} where it is absent. */
  static Duration timeout(Query query, Duration most) {
    return Duration.ofSeconds(query.integer("timeout", most.toSeconds(), 0, most.toSeconds()));
  }

  private Reply running(Request request) {
    return Json.reply(Selected.of(request.query()).shapes(graph.running()));
  }
}

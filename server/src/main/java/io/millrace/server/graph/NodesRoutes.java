package io.millrace.server.graph;

import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphEvent;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.Page;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Deadline;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.Query;
import io.millrace.http.message.Reply;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.node.ArrayNode;

/** The nodes as a whole: lists of them, and new ones. */
final class NodesRoutes {
  /** How long a question for newer nodes waits where the client does not say. */
  private static final Duration MOST_WAIT = Duration.ofMinutes(10);

  private static final Set<String> LISTING =
      Set.of(
          "type",
          "state",
          "status",
          "below",
          "new",
          "metadata",
          "start",
          "pid",
          "pagid",
          "timeout");

  private final GraphRegistry graph;

  NodesRoutes(GraphRegistry graph) {
    this.graph = graph;
  }

  void addTo(ApiRoutes api) {
    api.strictQuery(LISTING).get("/nodes", this::list);
    api.strictQuery(Set.of()).body(Route.Body.JSON).post("/nodes", this::add);
  }

  private Reply list(Request request) throws InterruptedException {
    Query query = request.query();
    Selected selected = Selected.of(query);
    NodeFilter filter = Filters.of(query);
    Pages pages = Pages.of(query);
    Duration timeout = SchedulerRoutes.timeout(query, MOST_WAIT);
    Page.Wanted wanted = pages.wanted();
    boolean waits = query.text("new").isPresent() && wanted == null && !request.isHead();
    Page<GraphNode> page =
        waits ? newer(filter, new Deadline(request, timeout)) : graph.nodes(filter, wanted);
    ArrayNode nodes = selected.shapes(page.items());
    if (page.next() == null && !pages.asked()) {
      return Json.reply(200, Precondition.tag(page.version()), nodes);
    }
    return Json.reply(
        200,
        Precondition.tag(page.version()),
        Pages.add(Json.object().set("nodes", nodes), page.next(), page.view()));
  }

  /** The first nodes that a filter lets through, once there are any, or the time is over. */
  private Page<GraphNode> newer(NodeFilter filter, Deadline deadline) throws InterruptedException {
    try (deadline) {
      Page<GraphNode> page = graph.nodes(filter, null);
      Duration step = deadline.step();
      while (page.items().isEmpty() && step.isPositive()) {
        page = nextLook(filter, deadline);
        step = deadline.step();
      }
      return page;
    }
  }

  /** Waits for something that may make a difference, and looks again. */
  private Page<GraphNode> nextLook(NodeFilter filter, Deadline deadline)
      throws InterruptedException {
    try (GraphChanges changes = graph.changes(null)) {
      Page<GraphNode> page = graph.nodes(filter, null);
      Duration step = deadline.step();
      while (page.items().isEmpty() && step.isPositive()) {
        List<GraphEvent> events = changes.next(step);
        if (events.stream().anyMatch(event -> mayMatch(event, filter))) {
          page = graph.nodes(filter, null);
        }
        step = deadline.step();
      }
      return page;
    } catch (VersionLostException _) {
      // Too much has happened to follow it one by one.
      return graph.nodes(filter, null);
    }
  }

  private static boolean mayMatch(GraphEvent event, NodeFilter filter) {
    return event.changed().stream().anyMatch(node -> node.id().value() > filter.newerThan());
  }

  private Reply add(Request request) throws IOException {
    ArrayNode added = Json.array();
    Long expected = Precondition.expected(request);
    for (GraphNode node :
        graph.add(GraphApi.caller(request), NodeForms.of(Json.body(request)), expected)) {
      added.add(NodeShape.of(node));
    }
    return Json.reply(201, added);
  }
}

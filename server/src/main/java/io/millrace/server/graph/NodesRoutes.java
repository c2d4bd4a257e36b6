package io.millrace.server.graph;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphEvent;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.Page;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.Query;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;

/** The nodes as a whole: lists of them, and new ones. */
final class NodesRoutes {
  /** How long a question for newer nodes waits where the client does not say. */
  private static final Duration MOST_WAIT = Duration.ofMinutes(10);

  private final GraphRegistry graph;
  private final Waiting waiting;

  NodesRoutes(GraphRegistry graph, Waiting waiting) {
    this.graph = graph;
    this.waiting = waiting;
  }

  void mount(GraphMount mount) {
    mount.add(HttpMethod.GET, "/nodes", (request, _) -> list(request));
    mount.add(HttpMethod.POST, "/nodes", this::add);
  }

  private Reply list(Request request) throws InterruptedException {
    Query query = request.query();
    Selected selected = Selected.of(query);
    NodeFilter filter = Filters.of(query);
    Pages pages = Pages.of(query);
    Duration timeout = SchedulerRoutes.timeout(query, MOST_WAIT);
    Page.Wanted wanted = pages.wanted();
    Page<GraphNode> page;
    if (query.text("new").isPresent() && wanted == null && !request.isHead()) {
      Newer newer = new Newer(filter);
      waiting.until(newer, request, timeout);
      page = newer.page();
    } else {
      page = graph.nodes(filter, wanted);
    }
    ArrayNode nodes = selected.shapes(page.items());
    if (page.next() == null && !pages.asked()) {
      return Json.reply(nodes);
    }
    return Json.reply(Pages.add(Json.object().set("nodes", nodes), page.next(), page.view()));
  }

  /** Waits for the first nodes that a filter lets through. */
  private final class Newer implements Waiting.Condition {
    private final NodeFilter filter;
    private @Nullable Page<GraphNode> page;

    Newer(NodeFilter filter) {
      this.filter = filter;
    }

    /** What was seen last. */
    Page<GraphNode> page() {
      Page<GraphNode> seen = page;
      return seen == null ? graph.nodes(filter, null) : seen;
    }

    @Override
    public boolean look() {
      Page<GraphNode> seen = graph.nodes(filter, null);
      page = seen;
      return !seen.items().isEmpty();
    }

    @Override
    public boolean see(GraphEvent event) {
      return event.changed().stream().anyMatch(this::mayMatch) && look();
    }

    private boolean mayMatch(GraphNode node) {
      return node.id().value() > filter.newerThan()
          && (filter.types().isEmpty() || filter.types().contains(node.definition().type()))
          && (filter.states().isEmpty() || filter.states().contains(node.state()));
    }
  }

  private Reply add(Request request, Caller caller) throws IOException {
    ArrayNode added = Json.array();
    for (GraphNode node : graph.add(caller, NodeForms.of(Json.body(request)))) {
      added.add(NodeShape.of(node));
    }
    return Json.reply(201, added);
  }
}

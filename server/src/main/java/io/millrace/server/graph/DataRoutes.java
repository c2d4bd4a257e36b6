package io.millrace.server.graph;

import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.NodeId;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.graph.GraphParameters.Pages;
import java.io.IOException;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The data of nodes. */
record DataRoutes(GraphRegistry graph) {
  private static final Set<String> FIELDS = Set.of("value");

  private static final Set<String> PAGES = Set.of("start", "pid", "pagid");

  /** Adds those that only read the store and the blobs. */
  void addReadsTo(ApiRoutes all) {
    ApiRoutes api = all.stale().strictQuery(PAGES);
    api.get("/nodes/{id}/data", this::keys).get("/nodes/{id}/data/{key}", this::read);
  }

  void addTo(ApiRoutes api) {
    addReadsTo(api);
    api.strictQuery(PAGES)
        .body(Route.Body.JSON, FIELDS)
        .role(Role.OPERATOR)
        .action("graph.write")
        .put("/nodes/{id}/data/{key}", this::write);
  }

  private Response keys(Request request) {
    Pages pages = Pages.of(request.query());
    NodeId id = GraphParameters.id(request, graph);
    Page<String> page = graph.keys(id, pages.wanted());
    ObjectNode json = Json.object();
    ArrayNode keys = json.putArray("keys");
    page.items().forEach(keys::add);
    return Json.response(
        page.next() == null && !pages.asked() ? json : Pages.add(json, page.next(), page.view()));
  }

  private Response read(Request request) {
    Pages pages = Pages.of(request.query());
    int slot = pages.slot();
    // The version is read first, so that a change that expects it cannot overwrite a later one.
    GraphNode node = GraphParameters.node(request, graph);
    String key = request.parameter("key");
    DataPage page = graph.data(node.id(), key, pages.view(), slot);
    ObjectNode json = Json.object().put("key", key).set("data", page.data());
    if (page.growing()) {
      json.put("growing", true);
    }
    if (page.next() != null || page.growing() || pages.asked()) {
      Pages.add(json, page.next() == null ? null : page.next().toString(), page.view());
    }
    return Json.response(200, GraphParameters.tag(node), json);
  }

  private Response write(Request request) throws IOException {
    NodeId id = GraphParameters.id(request, graph);
    String key = request.parameter("key");
    Pages pages = Pages.of(request.query());
    Long expected = GraphParameters.expected(request);
    ObjectNode body = Json.objectBody(request);
    Json.checkFields("a value of data", body, FIELDS);
    JsonNode value = body.get("value");
    if (value == null) {
      throw HttpProblem.malformed("the body must have the field value");
    }
    DataWrite write = write(pages, value);
    DataPage page = graph.put(GraphReach.caller(request), id, key, write, expected);
    Integer next = page.next();
    return Json.response(
        Pages.add(
            Json.object().put("key", key), next == null ? null : next.toString(), page.view()));
  }

  private static DataWrite write(Pages pages, JsonNode value) {
    if (pages.start() == null) {
      return new DataWrite.Whole(value);
    }
    if (pages.start().isEmpty()) {
      return new DataWrite.IfUnset(value);
    }
    String view = pages.view();
    if (view == null) {
      throw HttpProblem.malformed("the parameter start comes with pid, that of the page before");
    }
    return new DataWrite.Slot(value, view, pages.slot());
  }
}

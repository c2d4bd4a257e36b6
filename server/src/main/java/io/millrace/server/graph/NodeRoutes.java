package io.millrace.server.graph;

import io.millrace.graph.Caller;
import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Added;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.Uniqueness;
import io.millrace.graph.type.StartTime;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.PendingWait.Deadline;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.server.graph.GraphParameters.Pages;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import io.millrace.work.policy.UniqueKey;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Lists, adds, shows, changes, removes and retries nodes. */
record NodeRoutes(GraphRegistry graph, InstantSource clock) {
  /** How long a request for newer nodes waits by default. */
  private static final Duration MAX_WAIT = Duration.ofMinutes(10);

  private static final Set<String> LISTING =
      Set.of(
          "type",
          "state",
          "status",
          "below",
          "text",
          "new",
          "metadata",
          "start",
          "pid",
          "pagid",
          "timeout");

  private static final String REQUEST = "requestid";
  private static final Set<String> UNIQUE =
      Set.of("unique", "unique_fields", "unique_scope", "unique_period");
  private static final String AT = "at";
  private static final String DELAY = "delay";
  private static final Set<String> ADDING =
      Stream.concat(UNIQUE.stream(), Stream.of(REQUEST, AT, DELAY))
          .collect(Collectors.toUnmodifiableSet());

  private static final Set<String> CHANGES = Set.of("name", "parent", "parents", "after", "branch");

  /** How often a move is tried again because the node has changed meanwhile. */
  private static final int ATTEMPTS = 20;

  /** Adds those that only read the store. */
  void addReadsTo(ApiRoutes all) {
    ApiRoutes api = all.stale();
    api.strictQuery(LISTING).get("/nodes", this::list);
    api.strictQuery(Set.of("metadata")).get("/nodes/{id}", this::show);
  }

  void addTo(ApiRoutes api) {
    addReadsTo(api);
    api.strictQuery(ADDING)
        .body(Route.Body.JSON, NodeForms.PARTS)
        .action("graph.add")
        .post("/nodes", this::add);
    ApiRoutes operators = api.role(Role.OPERATOR);
    operators
        .strictQuery(Set.of())
        .body(Route.Body.JSON, CHANGES)
        .action("graph.change")
        .patch("/nodes/{id}", this::change);
    operators
        .strictQuery(Set.of("below"))
        .action("graph.remove")
        .delete("/nodes/{id}", this::remove);
    operators.strictQuery(Set.of()).action("graph.retry").post("/nodes/{id}/retry", this::retry);
  }

  private Response show(Request request) {
    GraphNode node = GraphParameters.node(request, graph);
    return Json.response(
        200, GraphParameters.tag(node), NodeShape.selected(request.query()).shape(node));
  }

  private static Response changed(GraphNode node) {
    return Json.response(200, GraphParameters.tag(node), NodeShape.of(node));
  }

  private Response change(Request request) throws IOException {
    Caller caller = GraphReach.caller(request);
    Long expected = GraphParameters.expected(request);
    ObjectNode body = Json.objectBody(request);
    Json.checkFields("a change of a node", body, CHANGES);
    GraphNode node = GraphParameters.node(request, graph);
    if (expected != null && expected != node.version()) {
      throw new VersionException(
          "node " + node.id() + " has version " + node.version() + ", not " + expected);
    }
    String name = Json.text("name", body.get("name"));
    if (name != null && name.length() > NodeForms.MAX_NAME) {
      throw HttpProblem.malformed(
          "a name has at most " + NodeForms.MAX_NAME + " characters, not " + name.length());
    }
    Long version = expected;
    if (body.has("after") || body.has("branch") || NodeForms.hasParents(body)) {
      node = move(caller, node, body, expected);
      version = node.version();
    }
    if (body.has("name")) {
      // Changes between the move and this step do not count against the caller's expectation.
      node = graph.rename(caller, node.id(), name, expected == null ? null : version);
    }
    return changed(node);
  }

  private GraphNode move(Caller caller, GraphNode seen, ObjectNode body, @Nullable Long expected) {
    GraphNode node = seen;
    for (int attempt = 1; ; attempt++) {
      try {
        return graph.move(caller, node.id(), place(node.definition(), body), node.version());
      } catch (VersionException e) {
        if (expected != null || attempt == ATTEMPTS) {
          throw e;
        }
        NodeId id = node.id();
        node = graph.node(id).orElseThrow(() -> e);
      }
    }
  }

  /** The new place of a node: its current one, with the changes in the body. */
  private static NewNode.Place place(Definition now, ObjectNode body) {
    List<NodeRef> parents =
        NodeForms.hasParents(body) ? NodeForms.parents(body) : existing(now.parents());
    List<NodeRef> after = body.has("after") ? NodeForms.after(body) : existing(now.after());
    Branch branch = body.has("branch") ? NodeForms.branch(body) : now.branch();
    return new NewNode.Place(parents, after, branch);
  }

  private static List<NodeRef> existing(List<NodeId> ids) {
    return ids.stream().map(id -> (NodeRef) new NodeRef.Existing(id)).toList();
  }

  private Response remove(Request request) {
    int removed =
        graph.remove(
            GraphReach.caller(request),
            GraphParameters.id(request, graph),
            removal(request.query()),
            GraphParameters.expected(request));
    String id = request.parameter("id");
    request.changed(removed, id, id);
    return Json.response(Json.object().put("removed", removed));
  }

  private static Removal removal(Query query) {
    if (query.text("below").isEmpty()) {
      return Removal.LEAF;
    }
    return query.bool("below", false) ? Removal.SUBTREE : Removal.ALONE;
  }

  private Response retry(Request request) {
    return changed(
        graph.retry(
            GraphReach.caller(request),
            GraphParameters.id(request, graph),
            GraphParameters.expected(request)));
  }

  private Response list(Request request) throws InterruptedException {
    Query query = request.query();
    NodeShape selected = NodeShape.selected(query);
    NodeFilter filter = GraphReach.of(request, graph).within(GraphParameters.filter(query));
    Pages pages = Pages.of(query);
    Duration timeout = SchedulerRoutes.timeout(query, MAX_WAIT);
    Page.Wanted wanted = pages.wanted();
    String text = query.text("text").filter(it -> !it.isEmpty()).orElse(null);
    boolean waits = query.text("new").isPresent() && wanted == null && !request.isHead();
    Page<GraphNode> page =
        waits
            ? newer(filter, text, new Deadline(request, timeout))
            : graph.nodes(filter, text, wanted);
    ArrayNode nodes = selected.shapes(page.items());
    if (page.next() == null && !pages.asked()) {
      return Json.response(200, GraphParameters.tag(page.version()), nodes);
    }
    return Json.response(
        200,
        GraphParameters.tag(page.version()),
        Pages.add(Json.object().set("nodes", nodes), page.next(), page.view()));
  }

  /** The first nodes that match a filter, once there are any or the time is over. */
  private Page<GraphNode> newer(NodeFilter filter, @Nullable String text, Deadline deadline)
      throws InterruptedException {
    try (deadline) {
      Page<GraphNode> page = graph.nodes(filter, text, null);
      Duration step = deadline.step();
      while (page.items().isEmpty() && step.isPositive()) {
        page = nextLook(filter, text, deadline);
        step = deadline.step();
      }
      return page;
    }
  }

  /** Waits for a change that may matter, and reads again. */
  private Page<GraphNode> nextLook(NodeFilter filter, @Nullable String text, Deadline deadline)
      throws InterruptedException {
    try (GraphChanges changes = graph.changes(null)) {
      Page<GraphNode> page = graph.nodes(filter, text, null);
      Duration step = deadline.step();
      while (page.items().isEmpty() && step.isPositive()) {
        List<GraphEvent> events = changes.next(step);
        if (events.stream().anyMatch(event -> mayMatch(event, filter))) {
          page = graph.nodes(filter, text, null);
        }
        step = deadline.step();
      }
      return page;
    } catch (VersionLostException _) {
      // Too much has happened to follow each change.
      return graph.nodes(filter, text, null);
    }
  }

  private static boolean mayMatch(GraphEvent event, NodeFilter filter) {
    return event.changed().stream().anyMatch(node -> node.id().value() > filter.newerThan());
  }

  private Response add(Request request) throws IOException {
    Long expected = GraphParameters.expected(request);
    Optional<Instant> start = start(request.query());
    List<NewNode> given = NodeForms.of(Json.body(request));
    List<NewNode> nodes = start.map(time -> StartTime.at(time, given)).orElse(given);
    GraphReach.of(request, graph).checkTypes(nodes);
    Added added =
        graph.add(GraphReach.caller(request), nodes, uniqueness(request.query()), expected);
    if (added.duplicate()) {
      Map<NodeId, GraphNode> left = new HashMap<>();
      added.nodes().forEach(node -> left.put(node.id(), node));
      return Json.response(200, Json.array(added.ids(), id -> duplicate(id, left.get(id))));
    }
    GraphParameters.note(request, added.ids());
    return Json.response(201, Json.array(added.nodes(), NodeShape::of));
  }

  /** A node that was there already; with its id only if it has left the graph since. */
  private static ObjectNode duplicate(NodeId id, @Nullable GraphNode node) {
    ObjectNode shape = node == null ? Json.object().put("id", id.toString()) : NodeShape.of(node);
    return shape.put("duplicate", true);
  }

  /** The time before which nothing of a new graph starts; empty for none. */
  private Optional<Instant> start(Query query) {
    try {
      Instant now = clock.instant();
      Optional<Instant> at = query.text(AT).map(text -> TimeText.moment(AT, text));
      Optional<Instant> delayed =
          query.text(DELAY).map(text -> now.plus(TimeText.duration(DELAY, text)));
      if (at.isPresent() && delayed.isPresent()) {
        throw HttpProblem.malformed("at cannot be combined with delay");
      }
      return at.or(() -> delayed).filter(now::isBefore);
    } catch (PolicyException e) {
      throw HttpProblem.malformed(String.valueOf(e.getMessage()));
    }
  }

  private static Uniqueness uniqueness(Query query) {
    Map<String, String> fields = new HashMap<>();
    UNIQUE.forEach(name -> query.text(name).ifPresent(text -> fields.put(name, text)));
    try {
      UniqueKey key = Policy.NONE.with(fields).unique().orElse(null);
      if (key == null && !fields.isEmpty()) {
        throw HttpProblem.malformed(
            "the parameters unique_scope and unique_period need the parameter unique or"
                + " unique_fields, which must not be empty");
      }
      return new Uniqueness(key, query.text(REQUEST).orElse(null));
    } catch (PolicyException e) {
      throw HttpProblem.malformed(String.valueOf(e.getMessage()));
    }
  }
}

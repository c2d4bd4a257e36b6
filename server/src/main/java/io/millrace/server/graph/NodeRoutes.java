package io.millrace.server.graph;

import io.millrace.graph.Branch;
import io.millrace.graph.Caller;
import io.millrace.graph.Definition;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeRef;
import io.millrace.graph.Removal;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Reply;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** One node: as it is, changed, removed, tried again. */
final class NodeRoutes {
  private static final Set<String> CHANGES = Set.of("name", "parent", "parents", "after", "branch");

  /** How often a move begins anew because the node has changed meanwhile. */
  private static final int ATTEMPTS = 20;

  private final GraphRegistry graph;

  NodeRoutes(GraphRegistry graph) {
    this.graph = graph;
  }

  void addTo(ApiRoutes api) {
    api.strictQuery(Set.of("metadata")).get("/nodes/{id}", this::show);
    api.strictQuery(Set.of()).body(Route.Body.JSON).patch("/nodes/{id}", this::change);
    api.strictQuery(Set.of("below")).delete("/nodes/{id}", this::remove);
    api.strictQuery(Set.of()).post("/nodes/{id}/retry", this::retry);
  }

  private Reply show(Request request) {
    GraphNode node = Ids.node(request, graph);
    return Json.reply(200, Precondition.tag(node), Selected.of(request.query()).shape(node));
  }

  private static Reply changed(GraphNode node) {
    return Json.reply(200, Precondition.tag(node), NodeShape.of(node));
  }

  private Reply change(Request request) throws IOException {
    Caller caller = GraphApi.caller(request);
    Long expected = Precondition.expected(request);
    ObjectNode body = Json.objectBody(request);
    Json.checkFields("a change of a node", body, CHANGES);
    GraphNode node = Ids.node(request, graph);
    if (expected != null && expected != node.version()) {
      throw new VersionException(
          "node " + node.id() + " has version " + node.version() + ", not " + expected);
    }
    String name = Json.text("name", body.get("name"));
    if (name != null && name.length() > NodeForms.MOST_NAME) {
      throw HttpProblem.malformed(
          "a name has at most " + NodeForms.MOST_NAME + " characters, not " + name.length());
    }
    Long version = expected;
    if (body.has("after") || body.has("branch") || Places.hasParents(body)) {
      node = move(caller, node, body, expected);
      version = node.version();
    }
    if (body.has("name")) {
      // What came between the move and this does not belong to the caller's expectation.
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

  /** Where a node is to be: where it is, but for what the body says. */
  private static NewNode.Place place(Definition now, ObjectNode body) {
    List<NodeRef> parents =
        Places.hasParents(body) ? Places.parents(body) : existing(now.parents());
    List<NodeRef> after = body.has("after") ? Places.after(body) : existing(now.after());
    Branch branch = body.has("branch") ? Places.branch(body) : now.branch();
    return new NewNode.Place(parents, after, branch);
  }

  private static List<NodeRef> existing(List<NodeId> ids) {
    return ids.stream().map(id -> (NodeRef) new NodeRef.Existing(id)).toList();
  }

  private Reply remove(Request request) {
    int removed =
        graph.remove(
            GraphApi.caller(request),
            Ids.of(request),
            removal(request.query()),
            Precondition.expected(request));
    return Json.reply(Json.object().put("removed", removed));
  }

  private static Removal removal(Query query) {
    if (query.text("below").isEmpty()) {
      return Removal.LEAF;
    }
    return query.truth("below", false) ? Removal.SUBTREE : Removal.ALONE;
  }

  private Reply retry(Request request) {
    return changed(
        graph.retry(GraphApi.caller(request), Ids.of(request), Precondition.expected(request)));
  }
}

package io.millrace.server.graph;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.NotAllowedException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.GraphRegistry;
import io.millrace.http.ApiRoutes;
import io.millrace.http.ErrorReplies;
import io.millrace.http.Request;
import io.millrace.http.Route;
import java.util.List;

/** The graph under {@code /v1}. Its routes answer parameters that they do not know with 400. */
final class GraphApi {
  private GraphApi() {}

  /** The routes. */
  static List<Route> routes(GraphRegistry graph, GraphTokens tokens) {
    ApiRoutes api = ApiRoutes.below("/v1").credentials(tokens);
    new NodesRoutes(graph).addTo(api);
    new NodeRoutes(graph).addTo(api);
    new DataRoutes(graph).addTo(api);
    new SchedulerRoutes(graph).addTo(api);
    api.strictQuery(GraphEvents.PARAMETERS)
        .get("/events", request -> GraphEvents.reply(request, graph));
    return api.routes();
  }

  /** Who asks: a command that runs as a node if its token says so. */
  static Caller caller(Request request) {
    return request.caller().reach() instanceof GraphTokens.Subtree(Caller.RunningNode node)
        ? node
        : Caller.ANYONE;
  }

  /** Says what the failures of a graph mean to a client. */
  static void addErrorReplies(ErrorReplies replies) {
    replies
        .add(InvalidGraphException.class, 400)
        .add(NotAllowedException.class, 403)
        .add(UnknownNodeException.class, 404)
        .add(UnknownKeyException.class, 404)
        .add(NodeStateException.class, 409)
        .add(StaleViewException.class, 409)
        .add(VersionLostException.class, 410)
        .add(VersionException.class, 412)
        .addUnavailable(GraphFullException.class)
        .addUnavailable(GraphException.class);
  }
}

package io.millrace.server.graph;

import io.millrace.graph.GraphRegistry;
import io.millrace.server.http.Routes;
import io.millrace.server.security.Bearer;
import io.millrace.server.security.Pass;

/** Mounts the graph under {@code /v1}. */
public final class GraphApi {
  private GraphApi() {}

  /** Adds the routes. */
  public static void mount(Routes routes, GraphRegistry graph, GraphTokens tokens) {
    GraphMount mount = new GraphMount(routes, tokens);
    new NodesRoutes(graph).mount(mount);
    new NodeRoutes(graph).mount(mount);
    new DataRoutes(graph).mount(mount);
    new SchedulerRoutes(graph).mount(mount);
    new EventsRoute(graph).mount(mount);
  }

  /** Lets commands that run as nodes in here, and nowhere else, by their tokens. */
  public static Pass pass(GraphTokens tokens) {
    return (path, headers) ->
        path.startsWith(GraphMount.ROOT + "/")
            && Bearer.in(headers.only("Authorization")).flatMap(tokens::holder).isPresent();
  }
}

package io.millrace.server.shards;

import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.Route.Handler;
import io.millrace.http.events.EventStream;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.Response;
import io.millrace.wire.ShardPaths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The routes at the root of a server whose store has shards that concern several of them, or one
 * that their path does not tell. The shards check the roles of callers.
 */
public final class RootRoutes {
  /** For one shard that the body tells. */
  private static final List<String> BY_BODY =
      List.of(
          "POST /dci/queues",
          "POST /dci/tasks/wait",
          "POST /dci/start-queue-json",
          "POST /dci/set-queue-attr-json",
          "POST /dci/delete-queue-json",
          "POST /dci/queue-create-tasks-json",
          "POST /dci/queue-create-tasks-from-query-json",
          "POST /v1/nodes",
          "PUT /v1/scheduler/kill",
          "GET /v1/scheduler/wait",
          "POST /bulk");

  /** For one shard that is looked for: by a read of the path up to the key. */
  private static final List<String> SOUGHT =
      List.of(
          "GET /api/jobs/{key}",
          "GET /bulk/{key}",
          "GET /why/{key}",
          "GET /archive/jobs/{key}",
          "GET /archive/tasks/{key}",
          "GET /archive/graphs/{key}",
          "GET /api/jobs/{key}/failures",
          "GET /api/jobs/{key}/returns",
          "GET /api/jobs/{key}/payload",
          "GET /api/jobs/{key}/result",
          "GET /api/jobs/{key}/wait",
          "POST /api/jobs/{key}/delete",
          "POST /api/jobs/{key}/cancel",
          "POST /api/jobs/{key}/retry",
          "POST /api/jobs/{key}/result",
          "POST /api/jobs/{key}/failure",
          "POST /api/jobs/{key}/progress",
          "DELETE /api/jobs/{key}",
          "POST /bulk/{key}/cancel",
          "DELETE /bulk/{key}",
          "GET /archive/jobs/{key}/payload",
          "GET /archive/jobs/{key}/result");

  private static final List<String> EVENTS =
      List.of("GET /dci/events", "GET /api/events", "GET /v1/events");

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final ShardRequests requests;
  private final AllShards all;
  private final OneOfShards one;
  private final Map<String, Credentials> credentials;
  private final List<Route> routes = new ArrayList<>();

  private RootRoutes(ShardRequests requests, ShardPaths paths, Map<String, Credentials> accepted) {
    this.requests = requests;
    this.all = new AllShards(requests);
    this.one = new OneOfShards(requests, paths);
    this.credentials = accepted;
  }

  /**
   * The routes.
   *
   * @param accepted besides the server's token and keys, by the first part of paths
   */
  public static List<Route> of(
      ShardRequests requests, ShardPaths paths, Map<String, Credentials> accepted) {
    RootRoutes made = new RootRoutes(requests, paths, accepted);
    AllShards.all()
        .forEach(route ->
            made.add(route, request -> made.all.answer(request, method(route), path(route))));
    BY_BODY.forEach(route -> made.add(route, request -> made.one.byBody(request, method(route))));
    SOUGHT.forEach(route -> made.add(route, made.seeking(path(route))));
    EVENTS.forEach(route -> made.add(route, made::events));
    return List.copyOf(made.routes);
  }

  private static HttpMethod method(String route) {
    return HttpMethod.valueOf(route.substring(0, route.indexOf(' ')));
  }

  private static String path(String route) {
    return route.substring(route.indexOf(' ') + 1);
  }

  private void add(String route, Handler handler) {
    String path = path(route);
    ApiRoutes api =
        ApiRoutes.below("")
            .role(Role.VIEWER)
            .limitable()
            .body(Route.Body.FIELDS, Set.of())
            .credentials(
                credentials.getOrDefault(path.substring(1).split("/", 2)[0], Credentials.NONE));
    routes.addAll(
        (switch (method(route)) {
              case GET -> api.get(path, handler);
              case POST -> api.post(path, handler);
              case PUT -> api.put(path, handler);
              case PATCH -> api.patch(path, handler);
              case DELETE -> api.delete(path, handler);
              case HEAD, OPTIONS -> throw new IllegalArgumentException(route);
            })
            .routes());
  }

  /** Looks for the shard that has what is below a path, by its key. */
  private Handler seeking(String path) {
    String known = path.substring(0, path.indexOf('{'));
    return request -> {
      String kind =
          request.query().text("kind").map(it -> "?kind=" + AllShards.encoded(it)).orElse("");
      return one.seek(request, known + AllShards.encoded(request.parameter("key")) + kind);
    };
  }

  /** The events of all shards. */
  private Response events(Request request) {
    String after =
        request.header("Last-Event-ID").or(() -> request.query().text("after")).orElse(null);
    ShardRequests.Round round = requests.begin(request, PATIENCE);
    MergedEvents.Opener opener =
        (shard, last) ->
            round.stream(
                shard,
                AllShards.target(
                    request.path(),
                    request.query(),
                    last.isEmpty() ? Map.of() : Map.of("after", last),
                    Set.of("after")));
    return new EventStream(
            () -> MergedEvents.open(requests.leaders().count(), after, opener), MergedEvents::lost)
        .response(request);
  }
}

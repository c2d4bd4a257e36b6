package io.millrace.server.cluster;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.store.StoreDocuments;
import io.millrace.cluster.status.ClusterStatus;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.Part;
import io.millrace.store.TaskStore;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/**
 * {@code /cluster}: leader, members, locks, partitions and reports of a cluster whose documents are
 * in the server's store, and their changes. All requests only read; members write by {@code
 * /store}.
 */
public final class ClusterApi implements Part {
  private final TaskStore store;
  private final VersionedDocuments documents;
  private final Clock clock;

  /** The API of the cluster in this store. */
  public ClusterApi(TaskStore store, Clock clock) {
    this.store = store;
    this.documents = StoreDocuments.of(store);
    this.clock = clock;
  }

  @Override
  public List<Route> routes() {
    ApiRoutes api = ApiRoutes.below("/cluster").limitable();
    api.get("", shown(ClusterStatus::json))
        .get("/leader", shown(ClusterStatus::leaderJson))
        .get("/members", shown(ClusterStatus::membersJson))
        .get("/locks", shown(ClusterStatus::locksJson))
        .get("/partitions", shown(ClusterStatus::partitionsJson))
        .get("/status", shown(ClusterStatus::reportsJson));
    api.query("type", "after").get("/events", request -> ClusterEvents.response(request, store));
    return api.routes();
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    responses.addUnavailable(ClusterException.class);
  }

  /**
   * The names that the caller may see.
   *
   * @throws HttpProblem 403 if it may see nothing of a cluster
   */
  static Predicate<String> inReach(Request request) {
    Caller.Reach reach = request.caller().reach();
    if (!reach.includesAny(Area.CLUSTER)) {
      throw new HttpProblem(403, "the cluster is out of reach of " + request.caller().principal());
    }
    return name -> reach.includes(Area.CLUSTER, name);
  }

  private Handler shown(Function<ClusterStatus, JsonNode> form) {
    return request -> {
      Predicate<String> names = inReach(request);
      JsonNode json = form.apply(ClusterStatus.read(documents, clock.millis()).only(names));
      return Response.json(json.toString().getBytes(StandardCharsets.UTF_8));
    };
  }
}

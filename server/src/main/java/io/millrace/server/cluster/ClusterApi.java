package io.millrace.server.cluster;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.store.StoreDocuments;
import io.millrace.cluster.status.ClusterStatus;
import io.millrace.cluster.status.StatusForm;
import io.millrace.server.http.Failures;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Problems;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Routes;
import io.millrace.store.TaskStore;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/**
 * Mounts {@code /cluster}: leader, members, locks, partitions and reports of the cluster whose
 * documents the server's store holds. Everything is read; members write by {@code /store}.
 */
public final class ClusterApi {
  private final VersionedDocuments documents;
  private final Clock clock;

  private ClusterApi(VersionedDocuments documents, Clock clock) {
    this.documents = documents;
    this.clock = clock;
  }

  /** Adds the routes. */
  public static void mount(Routes routes, TaskStore store, Clock clock) {
    ClusterApi api = new ClusterApi(StoreDocuments.of(store), clock);
    api.add(routes, "/cluster", StatusForm::status);
    api.add(routes, "/cluster/leader", StatusForm::leader);
    api.add(routes, "/cluster/members", status -> StatusForm.members(status.members()));
    api.add(routes, "/cluster/locks", status -> StatusForm.locks(status.locks()));
    api.add(routes, "/cluster/partitions", status -> StatusForm.partitions(status.partitions()));
    api.add(routes, "/cluster/status", status -> StatusForm.reports(status.reports()));
  }

  /** Says what the failures of a cluster's documents mean to a client. */
  public static void explain(Failures failures) {
    failures.add(
        ClusterException.class,
        e -> Problems.reply(HttpProblem.unavailable(String.valueOf(e.getMessage()), 1)));
  }

  private void add(Routes routes, String path, Function<ClusterStatus, JsonNode> form) {
    routes.add(HttpMethod.GET, path, _ -> reply(form));
  }

  private Reply reply(Function<ClusterStatus, JsonNode> form) {
    JsonNode json = form.apply(ClusterStatus.read(documents, clock.millis()));
    return Reply.json(200, json.toString().getBytes(StandardCharsets.UTF_8));
  }
}

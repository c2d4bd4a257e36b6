package io.millrace.server.queues;

import io.millrace.http.Caller.Role;
import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.QueueBackend;
import io.millrace.store.TaskStore.Read;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** The execution nodes. */
record NodeRoutes(QueueBackend.Nodes nodes) {
  private static final Set<String> FIELDS = Set.of("maxthreads");

  /** Adds those that only read the store. */
  void addReadsTo(DciRoutes api) {
    api.stale()
        .get("/nodes", (_, _) -> all())
        .get(
            "/nodes/{node}",
            (request, _) ->
                Json.response(
                    Shapes.of(find(request.parameter("node")), nodes.list().timeMillis())));
  }

  void addTo(DciRoutes api) {
    addReadsTo(api);
    api.role(Role.OPERATOR)
        .action("node.change")
        .post("/nodes/{node}", FIELDS, (request, input) -> change(request.parameter("node"), input))
        .action("node.delete")
        .delete("/nodes/{node}", (request, _) -> remove(request.parameter("node")));
  }

  private Response remove(String idOrName) {
    Optional<NodeRecord> node = nodes.findByIdOrName(idOrName);
    if (node.isEmpty() || !nodes.remove(node.get().name())) {
      throw Refusal.of("node not found", "node", idOrName).with(Results.deleted(0));
    }
    return Json.response(Results.deleted(1));
  }

  private Response all() {
    Read<List<NodeRecord>> read = nodes.list();
    return Json.response(Json.array(read.value(), node -> Shapes.of(node, read.timeMillis())));
  }

  private NodeRecord find(String idOrName) {
    return nodes
        .findByIdOrName(idOrName)
        .orElseThrow(() -> Refusal.of("node not found", "node", idOrName));
  }

  private Response change(String idOrName, Input input) {
    if (input.isEmpty()) {
      throw Refusal.of("No params");
    }
    input.allow(FIELDS, "Invalid param");
    Integer maxthreads =
        input.count("maxthreads", "maxthreads must be a non-negative integer or null");
    Optional<NodeRecord> old = nodes.findByIdOrName(idOrName);
    if (old.isEmpty() || nodes.limit(old.get().name(), maxthreads).isEmpty()) {
      throw Refusal.of("node not found", "node", idOrName).with(Results.updated(0, 0));
    }
    boolean same = Objects.equals(old.get().maxthreads(), maxthreads);
    return Json.response(Results.updated(1, same ? 0 : 1));
  }
}

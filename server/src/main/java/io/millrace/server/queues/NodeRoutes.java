package io.millrace.server.queues;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRegistry;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.Reply;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.node.ArrayNode;

/** The execution nodes. */
final class NodeRoutes {
  private final NodeRegistry nodes;

  NodeRoutes(NodeRegistry nodes) {
    this.nodes = nodes;
  }

  void mount(Mount mount) {
    mount.add(HttpMethod.GET, "/nodes", (_, _) -> all());
    mount.add(
        HttpMethod.GET, "/nodes/{node}", (request, _) -> Form.ok(Shapes.of(find(request.node()))));
    mount.add(HttpMethod.POST, "/nodes/{node}", (request, input) -> change(request.node(), input));
  }

  private Reply all() {
    ArrayNode all = Form.array();
    nodes.all().forEach(node -> all.add(Shapes.of(node)));
    return Form.ok(all);
  }

  private NodeRecord find(String idOrName) {
    return nodes
        .findByIdOrName(idOrName)
        .orElseThrow(() -> Refusal.of("node not found", "node", idOrName));
  }

  private Reply change(String idOrName, Input input) {
    if (input.isEmpty()) {
      throw Refusal.of("No params");
    }
    input.allow(Set.of("maxthreads"), "Invalid param");
    Integer maxthreads =
        input.count("maxthreads", "maxthreads must be a non-negative integer or null");
    Optional<NodeRecord> old = nodes.findByIdOrName(idOrName);
    if (old.isEmpty() || nodes.limit(old.get().name(), maxthreads).isEmpty()) {
      throw Refusal.of("node not found", "node", idOrName).with(Results.updated(0, 0));
    }
    boolean same = Objects.equals(old.get().maxthreads(), maxthreads);
    return Form.ok(Results.updated(1, same ? 0 : 1));
  }
}

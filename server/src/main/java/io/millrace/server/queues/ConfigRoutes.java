package io.millrace.server.queues;

import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.registry.ConfigRegistry;
import io.millrace.server.config.EditDistance;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The stored configuration of all execution nodes, or of one. */
record ConfigRoutes(QueueBackend.Config config, QueueBackend.Nodes nodes) {
  private static final String NODE = "node";

  private static final int MAX_MISTYPED = 2;
  private static final Set<String> LISTS =
      Set.of("task_runner", "plugins", "activequeues", "ignorequeues");
  private static final List<String> FIELDS =
      List.of(
          "label",
          "task_runner",
          "plugins",
          "activequeues",
          "ignorequeues",
          "log_level",
          "output_files",
          "output_text_bytes",
          "output_max_bytes",
          "web_root");

  private static final Set<String> READ =
      Stream.concat(FIELDS.stream(), Stream.of(NODE)).collect(Collectors.toUnmodifiableSet());

  void addTo(DciRoutes api) {
    DciRoutes ofNode = api.query(NODE);
    ofNode.get("/config", this::show);
    ofNode.role(Role.OPERATOR).action("config.change").post("/config", READ, this::change);
  }

  private Response show(Request request, Input input) {
    return Json.response(config.fields(scope(request, input)));
  }

  private Response change(Request request, Input input) {
    ObjectNode changes = input.all().deepCopy();
    changes.remove(NODE);
    if (changes.isEmpty()) {
      throw Refusal.of("no params");
    }
    for (String name : changes.propertyNames()) {
      JsonNode value = changes.required(name);
      if (input.isUnset(value)) {
        changes.putNull(name);
        continue;
      }
      checkName(name);
      if (LISTS.contains(name)) {
        var _ = Input.texts(name, value);
        changes.set(name, Input.array(value));
      }
      if (name.endsWith("_bytes") && value.isString() && value.asString().matches("[0-9]{1,18}")) {
        changes.put(name, Long.parseLong(value.asString()));
      }
    }
    return Json.response(config.set(scope(request, input), changes));
  }

  /**
   * Unknown fields are kept for other programs, but a field that looks like a mistyped known one is
   * refused.
   */
  private static void checkName(String name) {
    if (name.isBlank()) {
      throw Refusal.of("a field has no name");
    }
    String nearest = EditDistance.nearest(name, FIELDS);
    if (nearest != null && isMistyped(name, nearest)) {
      throw Refusal.of("unknown field " + name + "; did you mean " + nearest + "?", "field", name);
    }
  }

  private static boolean isMistyped(String name, String nearest) {
    int distance = EditDistance.between(name, nearest);
    return distance > 0 && distance <= MAX_MISTYPED;
  }

  /** The scope of the parameter: the name of a node, which may be given by its id. */
  private String scope(Request request, Input input) {
    String given = input.text(NODE);
    String node = given.isEmpty() ? request.query().text(NODE).orElse("") : given;
    if (node.isEmpty()) {
      return ConfigRegistry.ALL;
    }
    if (!ObjectId.isValid(node)) {
      // The configuration may be set before the node exists.
      return node;
    }
    return nodes
        .findByIdOrName(node)
        .map(NodeRecord::name)
        .orElseThrow(() -> Refusal.of("node not found", NODE, node));
  }
}

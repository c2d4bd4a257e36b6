package io.millrace.server.graph;

import io.millrace.graph.Branch;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeRef;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Where a node goes, as requests say it. */
final class Places {
  private static final String LOCAL = "local:";

  private Places() {}

  /** Whether one of the fields is there that say what a node is below. */
  static boolean hasParents(ObjectNode metadata) {
    return metadata.has("parent") || metadata.has("parents");
  }

  /**
   * What {@code parent} or {@code parents} say; nothing, the root, where both are absent.
   *
   * @throws HttpProblem 400 where both are there or one is wrong
   */
  static List<NodeRef> parents(ObjectNode metadata) {
    JsonNode one = metadata.get("parent");
    JsonNode many = metadata.get("parents");
    if (one != null && many != null) {
      throw HttpProblem.malformed("a node has parent or parents, not both");
    }
    if (many != null) {
      return refs("parents", many, true);
    }
    if (one == null || isRoot(one)) {
      return List.of();
    }
    return List.of(ref("parent", one));
  }

  /** What {@code after} says; nothing where it is absent. */
  static List<NodeRef> after(ObjectNode metadata) {
    JsonNode given = metadata.get("after");
    return given == null ? List.of() : refs("after", given, false);
  }

  /** What {@code branch} says; null where it is absent or null. */
  static @Nullable Branch branch(ObjectNode metadata) {
    String given = Json.text("branch", metadata.get("branch"));
    return switch (given) {
      case null -> null;
      case "then" -> Branch.THEN;
      case "else" -> Branch.ELSE;
      default -> throw HttpProblem.malformed("branch must be then or else, not " + given);
    };
  }

  private static List<NodeRef> refs(String field, JsonNode given, boolean orRoot) {
    if (!(given instanceof ArrayNode array)) {
      throw HttpProblem.malformed(field + " must be an array of ids, not " + Json.shortened(given));
    }
    if (orRoot && array.size() == 1 && isRoot(array.get(0))) {
      return List.of();
    }
    List<NodeRef> refs = new ArrayList<>(array.size());
    array.forEach(each -> refs.add(ref(field, each)));
    return refs;
  }

  private static boolean isRoot(JsonNode value) {
    return value.isNull() || (value.isString() && value.asString().equals(NodeShape.ROOT));
  }

  private static NodeRef ref(String field, JsonNode value) {
    String text = value.isString() || value.isIntegralNumber() ? value.asString() : "";
    if (text.startsWith(LOCAL) && text.length() > LOCAL.length()) {
      return new NodeRef.Local(text.substring(LOCAL.length()));
    }
    return NodeId.parse(text)
        .map(NodeRef.Existing::new)
        .orElseThrow(() ->
            HttpProblem.malformed(
                field + " must be an id or local:NAME, not " + Json.shortened(value)));
  }
}

package io.millrace.server.graph;

import io.millrace.graph.Definition.Branch;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeId;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads the nodes that a request adds, and the places of nodes. */
public final class NodeForms {
  static final int MAX_NAME = 128;

  /** The fields of a node. */
  static final Set<String> PARTS = Set.of("metadata", "data");

  private static final Set<String> METADATA =
      Set.of("type", "name", "local", "parent", "parents", "after", "branch", "always");

  private static final String LOCAL = "local:";

  private NodeForms() {}

  /**
   * The nodes of a body.
   *
   * @throws HttpProblem 400 if it is not an array of nodes; the message says which node is wrong,
   *     counting from 1
   */
  public static List<NewNode> of(JsonNode body) {
    if (!(body instanceof ArrayNode nodes)) {
      throw HttpProblem.malformed(
          "the body must be an array of nodes, as in"
              + " [{\"metadata\": {\"type\": \"command\", \"parent\": \"root\"}, \"data\": {}}]");
    }
    List<NewNode> forms = new ArrayList<>(nodes.size());
    for (JsonNode node : nodes) {
      try {
        forms.add(form(node));
      } catch (HttpProblem e) {
        throw HttpProblem.malformed("new node " + (forms.size() + 1) + ": " + e.message());
      }
    }
    return forms;
  }

  private static NewNode form(JsonNode given) {
    if (!(given instanceof ObjectNode node)) {
      throw HttpProblem.malformed("a node is an object, not " + Json.shortened(given));
    }
    Json.checkFields("a node", node, PARTS);
    if (!(node.get("metadata") instanceof ObjectNode metadata)) {
      throw HttpProblem.malformed("metadata must be an object with the type of the node");
    }
    Json.checkFields("the metadata of a new node", metadata, METADATA);
    String type = Json.text("type", metadata.get("type"));
    if (type == null) {
      throw HttpProblem.malformed("the metadata has no type");
    }
    return new NewNode(
        Json.text("local", metadata.get("local")),
        Json.text("name", metadata.get("name")),
        type,
        new NewNode.Place(parents(metadata), after(metadata), branch(metadata)),
        always(metadata.get("always")),
        data(node.get("data")));
  }

  private static boolean always(@Nullable JsonNode given) {
    if (given == null || given.isNull()) {
      return false;
    }
    if (!given.isBoolean()) {
      throw HttpProblem.malformed("always must be true or false, not " + Json.shortened(given));
    }
    return given.booleanValue();
  }

  private static Map<String, JsonNode> data(@Nullable JsonNode given) {
    Map<String, JsonNode> data = new LinkedHashMap<>();
    if (given == null || given.isNull()) {
      return data;
    }
    if (!(given instanceof ObjectNode object)) {
      throw HttpProblem.malformed("data must be an object, not " + Json.shortened(given));
    }
    object.properties().forEach(field -> data.put(field.getKey(), field.getValue()));
    return data;
  }

  /** Whether one of the fields for parents is present. */
  static boolean hasParents(ObjectNode metadata) {
    return metadata.has("parent") || metadata.has("parents");
  }

  /**
   * The nodes of {@code parent} or {@code parents}; none, for the root, if both are absent.
   *
   * @throws HttpProblem 400 if both are present or one is wrong
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

  /** The nodes of {@code after}; none if it is absent. */
  static List<NodeRef> after(ObjectNode metadata) {
    JsonNode given = metadata.get("after");
    return given == null ? List.of() : refs("after", given, false);
  }

  /** The value of {@code branch}; null if it is absent or null. */
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

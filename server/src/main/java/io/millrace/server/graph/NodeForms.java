package io.millrace.server.graph;

import io.millrace.graph.NewNode;
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

/** Reads the nodes that a request wants to add. */
final class NodeForms {
  /** The most characters of a name. */
  static final int MOST_NAME = 128;

  private static final Set<String> PARTS = Set.of("metadata", "data");
  private static final Set<String> METADATA =
      Set.of("type", "name", "local", "parent", "parents", "after", "branch", "always");

  private NodeForms() {}

  /**
   * The nodes of a body.
   *
   * @throws HttpProblem 400 where it is anything but an array of nodes; the message says which node
   *     is wrong, counting from 1
   */
  static List<NewNode> of(JsonNode body) {
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
        new NewNode.Place(
            Places.parents(metadata), Places.after(metadata), Places.branch(metadata)),
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
}

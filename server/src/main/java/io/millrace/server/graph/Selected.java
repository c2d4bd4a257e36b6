package io.millrace.server.graph;

import io.millrace.graph.GraphNode;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The metadata that a client wants to see. */
final class Selected {
  /** Another word for {@code state}, which the seed uses as well. */
  static final String STATUS = "status";

  private final @Nullable Set<String> fields;

  private Selected(@Nullable Set<String> fields) {
    this.fields = fields;
  }

  /**
   * Those of the parameter {@code metadata}, a list with commas, and the id in any case; all where
   * it is absent.
   *
   * @throws HttpProblem 400 for a name that is none
   */
  static Selected of(Query query) {
    List<String> given = query.texts("metadata");
    if (given.isEmpty()) {
      return new Selected(null);
    }
    Set<String> fields = new LinkedHashSet<>();
    for (String name : String.join(",", given).split(",", -1)) {
      if (!name.isEmpty() && !NodeShape.FIELDS.contains(name) && !name.equals(STATUS)) {
        throw HttpProblem.malformed(
            "there is no metadata \"" + name + "\", only " + String.join(", ", NodeShape.FIELDS));
      }
      fields.add(name);
    }
    return new Selected(fields);
  }

  /** What is wanted of a node. */
  ObjectNode shape(GraphNode node) {
    ObjectNode all = NodeShape.of(node);
    if (fields == null) {
      return all;
    }
    ObjectNode chosen = Json.object().put("id", node.id().toString());
    for (String field : fields) {
      JsonNode value = all.get(field.equals(STATUS) ? "state" : field);
      if (value != null) {
        chosen.set(field, value);
      }
    }
    return chosen;
  }

  /** What is wanted of each. */
  ArrayNode shapes(List<GraphNode> nodes) {
    ArrayNode array = Json.array();
    nodes.forEach(node -> array.add(shape(node)));
    return array;
  }
}

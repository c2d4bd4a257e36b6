package io.millrace.queues.search;

import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.work.filter.FieldPath;
import io.millrace.work.filter.ValueOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Selects fields of results. Immutable. */
public final class Projection {
  /** All fields. */
  public static final Projection ALL = new Projection(List.of(), false, true);

  private final List<FieldPath> fields;
  private final boolean only;
  private final boolean withId;

  private Projection(List<FieldPath> fields, boolean only, boolean withId) {
    this.fields = List.copyOf(fields);
    this.only = only;
    this.withId = withId;
  }

  /**
   * Parses {@code {"field": 1, …}}, only these fields, or {@code {"field": 0, …}}, all but these
   * fields. {@code _id} is included unless it is 0.
   *
   * @throws InvalidRequestException for anything else
   */
  static Projection read(JsonNode json) {
    if (!json.isObject()) {
      throw wrong("projection must be a name/value object");
    }
    List<FieldPath> fields = new ArrayList<>();
    boolean withId = true;
    Boolean only = null;
    for (Map.Entry<String, JsonNode> field : json.properties()) {
      boolean wanted = bool(field.getKey(), field.getValue());
      if (field.getKey().equals("_id")) {
        withId = wanted;
        only = (only == null && json.size() == 1) ? Boolean.valueOf(wanted) : only;
        continue;
      }
      if (only != null && only != wanted) {
        throw wrong("projection either names fields to show or fields to leave out");
      }
      only = wanted;
      fields.add(FieldPath.of(field.getKey()));
    }
    return new Projection(fields, only != null && only, withId);
  }

  private static boolean bool(String field, JsonNode value) {
    if (value.isBoolean()) {
      return value.booleanValue();
    }
    if (value.isNumber()) {
      return !ValueOrder.isZero(value);
    }
    throw wrong("projection of " + field + " must be 0 or 1");
  }

  private static InvalidRequestException wrong(String message) {
    return new InvalidRequestException("projection", message);
  }

  /** Whether a top-level field may be in the result, so that it must be computed. */
  public boolean wants(String field) {
    if (field.equals("_id")) {
      return withId;
    }
    for (FieldPath path : fields) {
      if (path.steps().getFirst().equals(field)) {
        return only || path.steps().size() > 1;
      }
    }
    return !only;
  }

  /** The selected fields of {@code object}, which is not changed. */
  public ObjectNode of(ObjectNode object) {
    if (this == ALL) {
      return object;
    }
    ObjectNode result = object.deepCopy();
    if (only) {
      List<List<String>> paths = new ArrayList<>(fields.stream().map(FieldPath::steps).toList());
      paths.add(List.of("_id"));
      keep(result, paths, 0);
    } else {
      fields.forEach(path -> drop(result, path.steps(), 0));
    }
    if (!withId) {
      result.remove("_id");
    }
    return result;
  }

  private static void keep(JsonNode node, List<List<String>> paths, int depth) {
    if (node instanceof ArrayNode array) {
      array.forEach(element -> keep(element, paths, depth));
    } else if (node instanceof ObjectNode object) {
      for (String name : List.copyOf(object.propertyNames())) {
        List<List<String>> within =
            paths.stream().filter(path -> path.get(depth).equals(name)).toList();
        if (within.isEmpty()) {
          object.remove(name);
        } else if (within.stream().allMatch(path -> path.size() > depth + 1)) {
          keep(object.required(name), within, depth + 1);
        }
      }
    }
  }

  private static void drop(JsonNode node, List<String> path, int depth) {
    if (node instanceof ArrayNode array) {
      array.forEach(element -> drop(element, path, depth));
    } else if (node instanceof ObjectNode object) {
      JsonNode value = object.get(path.get(depth));
      if (depth + 1 == path.size()) {
        object.remove(path.get(depth));
      } else if (value != null) {
        drop(value, path, depth + 1);
      }
    }
  }
}

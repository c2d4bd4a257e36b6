package io.millrace.work.filter;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/**
 * A dotted path to a field.
 *
 * @param steps the names; a name of digits is also an index of an array
 */
public record FieldPath(List<String> steps) {
  /** The path with this dotted form. */
  public static FieldPath of(String dotted) {
    return new FieldPath(List.of(dotted.split("\\.", -1)));
  }

  /** The dotted form. */
  public String dotted() {
    return String.join(".", steps);
  }

  /** The values of the field: several if the path leads through an array, none if it is absent. */
  public List<JsonNode> values(Subject subject) {
    List<JsonNode> found = new ArrayList<>(1);
    collect(subject.field(steps.getFirst()), 1, found);
    return found;
  }

  private void collect(@Nullable JsonNode value, int depth, List<JsonNode> found) {
    if (value == null) {
      return;
    }
    if (depth == steps.size()) {
      found.add(value);
      return;
    }
    String step = steps.get(depth);
    if (value instanceof ArrayNode array) {
      if (step.matches("[0-9]{1,9}")) {
        collect(array.get(Integer.parseInt(step)), depth + 1, found);
      }
      for (JsonNode element : array) {
        if (element.isObject()) {
          collect(element.get(step), depth + 1, found);
        }
      }
    } else {
      collect(value.get(step), depth + 1, found);
    }
  }
}

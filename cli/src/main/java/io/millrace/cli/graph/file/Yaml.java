package io.millrace.cli.graph.file;

import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A value in a file, with the line on which it begins, from 1. */
sealed interface Yaml {
  int line();

  /** The same as JSON. */
  JsonNode json();

  /**
   * Text, a number, true, false or null.
   *
   * @param text as it is written
   */
  record Scalar(int line, String text, JsonNode json) implements Yaml {}

  /** A list. */
  record Items(int line, List<Yaml> items) implements Yaml {
    /** Copies the items. */
    public Items {
      items = List.copyOf(items);
    }

    @Override
    public JsonNode json() {
      ArrayNode array = JsonNodeFactory.instance.arrayNode();
      items.forEach(item -> array.add(item.json()));
      return array;
    }
  }

  /** Values by key, in the order of the file. A key may come twice. */
  record Fields(int line, List<Field> fields) implements Yaml {
    /** Copies the fields. */
    public Fields {
      fields = List.copyOf(fields);
    }

    @Override
    public JsonNode json() {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      fields.forEach(field -> object.set(field.key, field.value.json()));
      return object;
    }
  }

  /**
   * A key with its value.
   *
   * @param line that of the key
   */
  record Field(int line, String key, Yaml value) {}

  /** Whether nothing was written here. */
  default boolean isNull() {
    return this instanceof Scalar scalar && scalar.json.isNull();
  }
}

package io.millrace.graph.store;

import io.millrace.graph.Definition;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.Timing;
import io.millrace.graph.model.Rules;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.NodeTypes;
import io.millrace.graph.type.RunPolicy;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/** Which keys of a node's data are read or written by its type. */
record DataRules(NodeTypes types) implements Rules.Settings {
  /** The most bytes of a value that a type reads, written as JSON: 1 MiB. */
  static final int MAX_BYTES = 1 << 20;

  static final int MAX_KEYS = 2_000;

  private static final Pattern KEY = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}");

  /**
   * The type of this name.
   *
   * @throws InvalidGraphException if there is none
   */
  NodeType type(String name) {
    return types
        .find(name)
        .orElseThrow(() ->
            new InvalidGraphException(
                "there is no type \"" + name + "\"; there are " + types.names()));
  }

  /** The keys that a node reads; none if its type is no longer known. */
  Set<String> read(Definition definition) {
    return types.find(definition.type()).map(NodeType::inputs).orElse(Set.of());
  }

  /** The keys that a node writes itself; none if its type is no longer known. */
  Set<String> written(Definition definition) {
    return types.find(definition.type()).map(NodeType::outputs).orElse(Set.of());
  }

  /**
   * Checks the data of a node of this type; anything is accepted if the type is unknown.
   *
   * @throws InvalidGraphException if the type does not accept it, or a value that it reads is too
   *     large
   */
  void check(String typeName, Map<String, JsonNode> data) {
    NodeType type = types.find(typeName).orElse(null);
    if (type != null) {
      Map<String, JsonNode> inputs = new HashMap<>(data);
      inputs.keySet().retainAll(type.inputs());
      inputs.forEach(DataRules::checkSize);
      type.check(inputs);
    }
  }

  @Override
  public Definition.Kind kind(String typeName) {
    return type(typeName).kind();
  }

  @Override
  public Timing timing(NewNode node) {
    return timing(node.type(), node.data());
  }

  @Override
  public NodeLimits limits(NewNode node) {
    return limits(node.type(), node.data());
  }

  /** When a node of this type may start, and how long it may take, by data that was checked. */
  Timing timing(String typeName, Map<String, JsonNode> data) {
    return RunPolicy.timing(inputs(typeName, data));
  }

  /** The limits of a node of this type, by data that was checked. */
  NodeLimits limits(String typeName, Map<String, JsonNode> data) {
    return RunPolicy.limits(inputs(typeName, data));
  }

  private Map<String, JsonNode> inputs(String typeName, Map<String, JsonNode> data) {
    Map<String, JsonNode> inputs = new HashMap<>(data);
    inputs.keySet().retainAll(types.find(typeName).map(NodeType::inputs).orElse(Set.of()));
    return inputs;
  }

  /** Checks a key, or throws {@link InvalidGraphException}. */
  static void checkKey(String key) {
    if (!KEY.matcher(key).matches()) {
      throw new InvalidGraphException(
          "\""
              + key
              + "\" is no key of data: it has 1 to 128 letters, digits, dots, dashes and"
              + " underscores, and begins with none of the dots and dashes");
    }
  }

  /** Checks the size of a value that a type reads, or throws {@link InvalidGraphException}. */
  private static void checkSize(String key, JsonNode value) {
    int size = Json.write(value).size();
    if (size > MAX_BYTES) {
      throw new InvalidGraphException(
          "\"" + key + "\" has " + size + " bytes; what a type reads has up to " + MAX_BYTES);
    }
  }
}

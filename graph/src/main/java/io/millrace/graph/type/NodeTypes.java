package io.millrace.graph.type;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The available types, by name. */
public final class NodeTypes {
  private final Map<String, NodeType> types = new LinkedHashMap<>();

  /**
   * Makes a directory of these types.
   *
   * @throws IllegalArgumentException if two have the same name
   */
  public NodeTypes(Collection<NodeType> types) {
    for (NodeType type : types) {
      if (this.types.put(type.name(), type) != null) {
        throw new IllegalArgumentException("two types of nodes are named " + type.name());
      }
    }
  }

  /** The type of this name. */
  public Optional<NodeType> find(String name) {
    return Optional.ofNullable(types.get(name));
  }

  /** Their names, in the order given. */
  public List<String> names() {
    return List.copyOf(types.keySet());
  }
}

package io.millrace.graph;

import io.millrace.graph.Definition.Branch;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A node to add.
 *
 * @param local a name by which other nodes of the request may refer to it; null for none
 * @param name a name for people, up to 128 characters, not necessarily unique; null for none
 * @param type the name of its type, for example {@code command}
 * @param place its parents and predecessors
 * @param always whether it runs however the nodes above it ended
 * @param data its data by key
 */
public record NewNode(
    @Nullable String local,
    @Nullable String name,
    String type,
    Place place,
    boolean always,
    Map<String, JsonNode> data) {
  public NewNode {
    data = Map.copyOf(data);
  }

  /**
   * The place of a node.
   *
   * @param parents the nodes directly above; empty for the root
   * @param after other nodes that must have finished
   * @param branch on which branch of a condition it is; null for both
   */
  public record Place(List<NodeRef> parents, List<NodeRef> after, @Nullable Branch branch) {
    /** Directly below the root. */
    public static final Place ROOT = new Place(List.of(), List.of(), null);

    public Place {
      parents = List.copyOf(parents);
      after = List.copyOf(after);
    }
  }

  /** How a new node refers to another. */
  public sealed interface NodeRef {
    /** A node of the graph. */
    record Existing(NodeId id) implements NodeRef {
      @Override
      public String toString() {
        return id.toString();
      }
    }

    /** A node of the same request, by its local name. */
    record Local(String name) implements NodeRef {
      @Override
      public String toString() {
        return "local:" + name;
      }
    }
  }
}

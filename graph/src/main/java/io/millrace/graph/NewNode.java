package io.millrace.graph;

import io.millrace.graph.Definition.Branch;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A node to add.
 *
 * @param local by which other nodes of the request may name it; null for none
 * @param name what people call it, up to 128 characters; null for none; need not be unique
 * @param type the name of its type, for example {@code command}
 * @param place what it is below and comes after
 * @param always whether it runs however what is above it ended
 * @param data its data by key
 */
public record NewNode(
    @Nullable String local,
    @Nullable String name,
    String type,
    Place place,
    boolean always,
    Map<String, JsonNode> data) {
  /** Copies the data. */
  public NewNode {
    data = Map.copyOf(data);
  }

  /**
   * Where it goes.
   *
   * @param parents what it is below; empty for the root
   * @param after what else must have finished
   * @param branch on which branch of a condition; null for both
   */
  public record Place(List<NodeRef> parents, List<NodeRef> after, @Nullable Branch branch) {
    /** Directly below the root. */
    public static final Place ROOT = new Place(List.of(), List.of(), null);

    /** Copies the lists. */
    public Place {
      parents = List.copyOf(parents);
      after = List.copyOf(after);
    }
  }

  /** How a new node names another. */
  public sealed interface NodeRef {
    /** One that is there. */
    record Existing(NodeId id) implements NodeRef {
      @Override
      public String toString() {
        return id.toString();
      }
    }

    /** One that comes in the same request, by its local name. */
    record Local(String name) implements NodeRef {
      @Override
      public String toString() {
        return "local:" + name;
      }
    }
  }
}

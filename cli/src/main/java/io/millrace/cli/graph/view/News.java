package io.millrace.cli.graph.view;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A message of a server about its graph.
 *
 * @param version the version of the graph at which this is true
 * @param whole whether the nodes are all that there are; else those that have changed
 * @param nodes nodes as they are now
 * @param removed the ids of those that are gone
 */
public record News(long version, boolean whole, List<NodeView> nodes, List<Long> removed) {
  private static final JsonMapper JSON = new JsonMapper();

  /** Copies the lists. */
  public News {
    nodes = List.copyOf(nodes);
    removed = List.copyOf(removed);
  }

  /** Reads it node by node: the first message holds a whole graph. */
  static News read(byte[] message) {
    long version = 0;
    boolean whole = false;
    List<NodeView> nodes = new ArrayList<>();
    List<Long> removed = new ArrayList<>();
    try (JsonParser in = JSON.createParser(message)) {
      in.nextToken();
      while (in.nextToken() == JsonToken.PROPERTY_NAME) {
        String field = in.currentName();
        in.nextToken();
        switch (field) {
          case "version" -> version = in.getLongValue();
          case "nodes", "changed" -> {
            whole |= field.equals("nodes");
            while (in.nextToken() == JsonToken.START_OBJECT) {
              nodes.add(NodeView.of(in.<JsonNode>readValueAsTree()));
            }
          }
          case "removed" -> in.<JsonNode>readValueAsTree().forEach(id -> removed.add(id.asLong(0)));
          default -> in.skipChildren();
        }
      }
    }
    return new News(version, whole, nodes, removed);
  }
}

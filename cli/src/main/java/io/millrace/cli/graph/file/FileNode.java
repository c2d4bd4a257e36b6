package io.millrace.cli.graph.file;

import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * A node of a graph file.
 *
 * @param key its key in the file
 * @param line the line that it begins on, from 1
 * @param name its display name; may be empty
 * @param type the name of its type
 * @param place its relations to other nodes of the file
 * @param data its data by key
 */
public record FileNode(
    String key, int line, String name, String type, Place place, Map<String, JsonNode> data) {
  /**
   * The relations of a node to other nodes of its file.
   *
   * @param parents the keys of its parents
   * @param after the keys of other nodes that must have ended first
   * @param branch {@code then}, {@code else} or empty
   * @param always whether it runs even if a parent has failed
   */
  public record Place(List<String> parents, List<String> after, String branch, boolean always) {
    public Place {
      parents = List.copyOf(parents);
      after = List.copyOf(after);
    }
  }
}

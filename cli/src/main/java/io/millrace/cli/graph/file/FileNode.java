package io.millrace.cli.graph.file;

import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * A node of a file.
 *
 * @param key what the file calls it
 * @param line where it begins in the file, from 1
 * @param name what people are to call it; may be empty
 * @param type the name of its type
 * @param place what of the file it is below and comes after
 * @param data its data by key
 */
public record FileNode(
    String key, int line, String name, String type, Place place, Map<String, JsonNode> data) {
  /**
   * Where a node is in its file.
   *
   * @param parents the keys of those that it is below
   * @param after the keys of those that it comes after
   * @param branch {@code then}, {@code else} or empty
   * @param always whether it runs however what is above it ended
   */
  public record Place(List<String> parents, List<String> after, String branch, boolean always) {
    public Place {
      parents = List.copyOf(parents);
      after = List.copyOf(after);
    }
  }
}

package io.millrace.graph.type;

import io.millrace.graph.NodeId;
import java.nio.file.Path;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * The input of an attempt at a node.
 *
 * @param id the node
 * @param attempt which attempt, from 1
 * @param inputs the data that the type reads, by key
 * @param folder for files of this attempt alone; empty or absent at first, and deleted once the end
 *     of the attempt is stored
 * @param environment variables by which a command can call the graph
 */
public record AttemptContext(
    NodeId id,
    int attempt,
    Map<String, JsonNode> inputs,
    Path folder,
    Map<String, String> environment) {
  public AttemptContext {
    inputs = Map.copyOf(inputs);
    environment = Map.copyOf(environment);
  }

  /** Without the environment, which contains a secret. */
  @Override
  public String toString() {
    return "attempt " + attempt + " of node " + id;
  }
}

package io.millrace.graph.type;

import io.millrace.graph.NodeId;
import java.nio.file.Path;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * What an attempt at a node has to go by.
 *
 * @param id the node
 * @param attempt which attempt, from 1
 * @param inputs the data that the type reads, by key
 * @param folder for files of this attempt alone; empty or not there yet, and gone once the
 *     attempt's end is stored
 * @param environment variables by which a command finds its way back to the graph
 */
public record AttemptContext(
    NodeId id,
    int attempt,
    Map<String, JsonNode> inputs,
    Path folder,
    Map<String, String> environment) {
  /** Copies the maps. */
  public AttemptContext {
    inputs = Map.copyOf(inputs);
    environment = Map.copyOf(environment);
  }

  /** Without the environment, which holds a secret. */
  @Override
  public String toString() {
    return "attempt " + attempt + " of node " + id;
  }
}

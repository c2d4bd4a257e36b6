package io.millrace.graph.schedule;

import io.millrace.graph.NodeId;
import java.util.Map;

/**
 * Gives a command the variables by which it may call the server, such as its URL and a token. Safe
 * for use by any number of threads.
 */
@FunctionalInterface
public interface Credentials {
  /** None. */
  Credentials NONE = (_, _) -> Map.of();

  /** Variables for an attempt at a node, from 1. */
  Map<String, String> of(NodeId id, int attempt);
}

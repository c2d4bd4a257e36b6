package io.millrace.graph;

import java.util.Map;

/**
 * The nodes by the graphs that they belong to, for metrics. The graph of a node is the node below
 * the root that is above it, by its first parents, and has the label of that one's name. Safe for
 * use by threads.
 */
public interface GraphGroups {
  /** How many levels below its graph a node may be; those further down have no graph. */
  int MAX_LEVELS = 100;

  /** The label of the graph of a node, as the graph is now. */
  String labelOf(GraphNode node);

  /**
   * How many nodes there are and since when they wait. Counts are kept with each change, so that
   * this reads no nodes; only after a node was moved, or a graph was renamed, all are counted
   * again.
   */
  Load load();

  /**
   * Nodes by graph.
   *
   * @param counts how many there are in each state, by label; states and labels without any may be
   *     left out
   * @param oldestReady since when the first ready node could have been started, in milliseconds
   *     since 1970, which may be in the future; without types and labels that have none
   */
  record Load(Map<String, Map<NodeState, Long>> counts, Map<ReadyGroup, Long> oldestReady) {
    public Load {
      counts = Map.copyOf(counts);
      oldestReady = Map.copyOf(oldestReady);
    }
  }

  /**
   * The ready nodes of a type in a graph.
   *
   * @param graph its label
   */
  record ReadyGroup(String type, String graph) {}
}

package io.millrace.graph;

import io.millrace.blobs.Tail;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The graph as its scheduler sees it. Groups never appear here: they start and end with the changes
 * that make them. Safe for use by any number of threads; {@link #start} and {@link #end} block
 * until the store has answered.
 */
public interface GraphWork {
  /**
   * A node with the data that its type reads.
   *
   * @param node as it is now
   * @param inputs by key; those that are unset are not among them
   */
  record Item(GraphNode node, Map<String, JsonNode> inputs) {}

  /**
   * How an attempt ended.
   *
   * @param id the node
   * @param attempt the attempt, from 1
   * @param outcome what became of it
   * @param values output by key that is stored with it
   * @param recordings long output by key, which was ended and is copied to where data is kept
   */
  record Ended(
      NodeId id,
      int attempt,
      Outcome outcome,
      Map<String, JsonNode> values,
      Map<String, Tail> recordings) {}

  /**
   * Nodes of a type that may start now, those first that have been ready for longest.
   *
   * @param most how many to give at most, from 1
   */
  List<GraphNode> ready(String type, int most, long nowMillis);

  /** When the next node may start that waits for a time, in milliseconds since 1970. */
  OptionalLong nextDueMillis();

  /** The nodes that run, as after a start of the server. */
  List<Item> running();

  /** Nodes that run and are to be ended, and how. */
  Map<NodeId, Kill> killing();

  /**
   * Starts nodes, all in one transaction.
   *
   * @return those that have started; others are not ready any more
   */
  List<Item> start(List<NodeId> ids);

  /**
   * Ends attempts, all in one transaction; those that do not run any more change nothing. With it
   * what is below them becomes ready.
   */
  void end(List<Ended> ended);

  /**
   * Where the output of running nodes can be read until it is stored.
   *
   * @param outputs gives it by node and key; null if there is none
   */
  void readOutputsFrom(Outputs outputs);

  /** The output of what runs. */
  @FunctionalInterface
  interface Outputs {
    /** The output of a key; null if the node does not run or has no such output. */
    @Nullable Tail of(NodeId id, String key);

    /**
     * Waits until it is known whether a node that runs has output, so long at most: after a restart
     * that takes until its attempt is found.
     *
     * @return whether it is known
     */
    default boolean isKnown(NodeId id, Duration within) throws InterruptedException {
      return true;
    }
  }

  /** Calls {@code wake}, quickly and from any thread, whenever there may be something to do. */
  void onChange(Runnable wake);
}

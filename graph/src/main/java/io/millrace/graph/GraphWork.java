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
   * @param node the node as it is now
   * @param inputs the data by key, without keys that are unset
   */
  record Item(GraphNode node, Map<String, JsonNode> inputs) {}

  /**
   * The end of an attempt.
   *
   * @param id the node
   * @param attempt the attempt, from 1
   * @param outcome how it ended
   * @param values output by key that is stored with it
   * @param recordings long output by key, which no longer grows and is copied to the blobs
   */
  record Ended(
      NodeId id,
      int attempt,
      Outcome outcome,
      Map<String, JsonNode> values,
      Map<String, Tail> recordings) {}

  /**
   * Nodes of a type that may start now, without those that have limits; those that have been ready
   * longest come first.
   *
   * @param most the maximum number, from 1
   */
  List<GraphNode> ready(String type, int most, long nowMillis);

  /**
   * Since when these nodes have been ready to start, in milliseconds since 1970; without those that
   * are not. After a start of the server, that start at the earliest.
   */
  Map<NodeId, Long> readySince(List<NodeId> ids);

  /**
   * When the next node that waits for a time may start, or the next one will have waited too long;
   * in milliseconds since 1970.
   */
  OptionalLong nextDueMillis();

  /** Fails the nodes that have waited too long, all in one transaction. */
  void expire(long nowMillis);

  /** The running nodes, for example after a start of the server. */
  List<Item> running();

  /** Running nodes that are to be killed, and how. */
  Map<NodeId, Kill> killing();

  /**
   * Starts nodes, all in one transaction. A node with limits needs a permit for this attempt.
   *
   * @return the nodes that have started; the others are not ready any more, or have no permit
   */
  List<Item> start(List<NodeId> ids);

  /**
   * Ends attempts, all in one transaction; attempts that do not run any more change nothing. The
   * same transaction makes the nodes below ready.
   */
  void end(List<Ended> ended);

  /** The permits of the nodes that have {@linkplain NodeLimits limits}. */
  Permits permits();

  /**
   * The permits without which nodes with limits do not start. A permit is for one attempt, and
   * counts against the limits from its claim until the attempt has ended. For the scheduler's
   * thread.
   */
  interface Permits {
    /**
     * Offers permits for nodes that have become due, and deletes those of nodes that have ended or
     * are not due any more. Failures are logged, and repaired by a later call.
     *
     * @return when to call it again, in milliseconds since 1970, if no node changes before; the
     *     largest number for never
     */
    long update(long nowMillis);

    /** How many nodes are due and have no permit, of the types that do or do not take a place. */
    int waiting(boolean takingPlaces);

    /**
     * Claims permits as far as the limits allow, without waiting.
     *
     * @param room how many nodes can start; permits beyond that are given back
     * @param more how many permits to claim, as far as there is room
     * @return the nodes with permits that have not started, up to {@code room}
     */
    List<NodeId> claim(boolean takingPlaces, int room, int more);

    /** Has the scheduler woken when one more permit can be had, within a second. */
    void await(boolean takingPlaces);
  }

  /**
   * Sets where to read the output of running nodes until it is stored.
   *
   * @param outputs returns it by node and key; null if there is none
   */
  void readOutputsFrom(Outputs outputs);

  /** The output of running nodes. */
  @FunctionalInterface
  interface Outputs {
    /** The output of a key; null if the node does not run or has no such output. */
    @Nullable Tail of(NodeId id, String key);

    /**
     * Waits until it is known whether a running node has output: after a restart, until its attempt
     * is found.
     *
     * @param within how long to wait at most
     * @return whether it is known
     */
    default boolean isKnown(NodeId id, Duration within) throws InterruptedException {
      return true;
    }
  }

  /** Calls {@code wake}, quickly and from any thread, whenever there may be something to do. */
  void onChange(Runnable wake);
}

package io.millrace.queues;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an operator chooses for a queue.
 *
 * @param threads the most tasks that run at a time over all nodes, from 0; null runs none, as 0
 * @param sort in which order; {@link Sort#DEFAULT} by default
 * @param nodesPin the only nodes that may run its tasks; empty for all. Where this is not empty,
 *     {@code nodesIgnore} does not count
 * @param nodesIgnore nodes that may not run its tasks
 * @param requeueOrphans how often an orphaned task is queued again before it stays orphaned, from
 *     0, the default
 */
public record QueueSettings(
    @Nullable Integer threads,
    Sort sort,
    List<String> nodesPin,
    List<String> nodesIgnore,
    int requeueOrphans) {
  /** A queue that runs nothing yet, on any node. */
  public static final QueueSettings DEFAULTS =
      new QueueSettings(null, Sort.DEFAULT, List.of(), List.of(), 0);

  /**
   * Copies the lists.
   *
   * @throws InvalidRequestException when a number is negative
   */
  public QueueSettings {
    if (threads != null && threads < 0) {
      throw new InvalidRequestException("threads", "threads must be a non-negative integer");
    }
    if (requeueOrphans < 0) {
      throw new InvalidRequestException(
          "requeue_orphans", "requeue_orphans must be a non-negative integer");
    }
    nodesPin = List.copyOf(nodesPin);
    nodesIgnore = List.copyOf(nodesIgnore);
  }

  /** The same with another limit. */
  public QueueSettings withThreads(@Nullable Integer limit) {
    return new QueueSettings(limit, sort, nodesPin, nodesIgnore, requeueOrphans);
  }

  /** How many tasks may run at a time; none without {@link #threads}. */
  public int limit() {
    return Optional.ofNullable(threads).orElse(0);
  }

  /** Whether a node of this name may run its tasks. */
  public boolean mayRunOn(String node) {
    return nodesPin.isEmpty() ? !nodesIgnore.contains(node) : nodesPin.contains(node);
  }
}

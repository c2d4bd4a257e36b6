package io.millrace.queues.node;

import java.time.Duration;

/**
 * How an execution node works.
 *
 * @param name its unique name, not empty
 * @param instance drawn at random for this start of the node
 * @param lease how long a claim lasts unless its runner renews it; default 5 minutes
 * @param stopGrace how long a terminated task has between TERM and KILL; default 10 seconds
 * @param batch the most tasks that it claims in one step, from 1; default 16
 */
public record NodeOptions(
    String name, String instance, Duration lease, Duration stopGrace, int batch) {
  /** Rejects an empty name, times that are not positive, and an empty batch. */
  public NodeOptions {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("the name of a node is empty");
    }
    if (!lease.isPositive() || stopGrace.isNegative() || batch < 1) {
      throw new IllegalArgumentException(
          "lease, grace and batch of a node must be positive: %s, %s, %d"
              .formatted(lease, stopGrace, batch));
    }
  }

  /** The default options. */
  public static NodeOptions of(String name, String instance) {
    return new NodeOptions(name, instance, Duration.ofMinutes(5), Duration.ofSeconds(10), 16);
  }

  /** The same with another lease. */
  public NodeOptions withLease(Duration other) {
    return new NodeOptions(name, instance, other, stopGrace, batch);
  }
}

package io.millrace.client;

import io.millrace.store.Claim;
import io.millrace.store.Owner;
import java.time.Duration;
import java.util.List;

/**
 * The options of a worker.
 *
 * @param client the client that claims the tasks
 * @param groups the groups to claim from, tried in this order
 * @param concurrency the number of tasks to work on at a time, 1 to 1,000; default 1
 * @param lease how long a claim lasts unless it is renewed, at least 100 milliseconds; it is
 *     renewed after a third of that time; default 1 minute
 * @param order which tasks to claim first; default random
 * @param poison the treatment of failing tasks
 */
public record WorkerOptions(
    Owner client,
    List<String> groups,
    int concurrency,
    Duration lease,
    Claim.Order order,
    Poison poison) {

  /**
   * The treatment of tasks that fail repeatedly.
   *
   * @param claims after how many claims without completion a task is quarantined; 0 for never;
   *     default 10
   * @param suffix the suffix that, appended to the name of a task's group, gives the group for its
   *     quarantined tasks; default {@code .quarantine}
   * @param retryDelay how long a failed task stays with the worker before it can be claimed again;
   *     default 1 second
   */
  public record Poison(int claims, String suffix, Duration retryDelay) {
    /** Rejects invalid values. */
    public Poison {
      if (claims < 0 || suffix.isEmpty() || retryDelay.isNegative()) {
        throw new IllegalArgumentException(
            "claims and retryDelay must not be negative, and suffix must not be empty");
      }
    }
  }

  /** Rejects invalid values. */
  public WorkerOptions {
    groups = List.copyOf(groups);
    if (groups.isEmpty()) {
      throw new IllegalArgumentException("a worker needs a group to take tasks from");
    }
    if (concurrency < 1 || concurrency > 1_000) {
      throw new IllegalArgumentException("concurrency must be from 1 to 1,000");
    }
    if (lease.toMillis() < 100) {
      throw new IllegalArgumentException("a lease must last at least 100 ms");
    }
  }

  /** The default options for these groups, with the client id of this process. */
  public static WorkerOptions of(String... groups) {
    return new WorkerOptions(
        ClientId.owner(),
        List.of(groups),
        1,
        Duration.ofMinutes(1),
        Claim.Order.RANDOM,
        new Poison(10, ".quarantine", Duration.ofSeconds(1)));
  }

  /** The same with another client. */
  public WorkerOptions withClient(Owner client) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }

  /** The same with another concurrency. */
  public WorkerOptions withConcurrency(int concurrency) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }

  /** The same with another lease. */
  public WorkerOptions withLease(Duration lease) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }

  /** The same with another order. */
  public WorkerOptions withOrder(Claim.Order order) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }

  /** The same with another treatment of failing tasks. */
  public WorkerOptions withPoison(Poison poison) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }
}

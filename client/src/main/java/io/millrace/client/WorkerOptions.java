package io.millrace.client;

import io.millrace.store.Claim;
import io.millrace.store.Owner;
import java.time.Duration;
import java.util.List;

/**
 * What a worker takes and how it holds it.
 *
 * @param client who claims
 * @param groups where tasks come from, tried in this order
 * @param concurrency how many tasks are worked on at a time; default 1
 * @param lease how long a claim lasts unless it is renewed, at least 100 milliseconds; renewed at a
 *     third of it; default 1 minute
 * @param order which tasks come first; default at random
 * @param poison what happens to tasks that fail
 */
public record WorkerOptions(
    Owner client,
    List<String> groups,
    int concurrency,
    Duration lease,
    Claim.Order order,
    Poison poison) {

  /**
   * What happens to tasks that fail again and again.
   *
   * @param claims after how many claims without an end a task is quarantined; 0 for never; default
   *     10
   * @param suffix what is appended to a group's name for the group of its quarantined tasks;
   *     default {@code .quarantine}
   * @param retryDelay how long a task that failed stays with the worker before it may be claimed
   *     again; default 1 second
   */
  public record Poison(int claims, String suffix, Duration retryDelay) {
    /** Rejects values that make no sense. */
    public Poison {
      if (claims < 0 || suffix.isEmpty() || retryDelay.isNegative()) {
        throw new IllegalArgumentException("not a way to treat failing tasks");
      }
    }
  }

  /** Rejects values that make no sense. */
  public WorkerOptions {
    groups = List.copyOf(groups);
    if (groups.isEmpty()) {
      throw new IllegalArgumentException("a worker needs a group to take tasks from");
    }
    if (concurrency < 1 || concurrency > 1_000) {
      throw new IllegalArgumentException("concurrency must be from 1 to 1,000");
    }
    if (lease.toMillis() < 100) {
      throw new IllegalArgumentException("a lease must last 100 ms at least");
    }
  }

  /** This process working on one task of these groups at a time. */
  public static WorkerOptions of(String... groups) {
    return new WorkerOptions(
        ClientId.owner(),
        List.of(groups),
        1,
        Duration.ofMinutes(1),
        Claim.Order.RANDOM,
        new Poison(10, ".quarantine", Duration.ofSeconds(1)));
  }

  /** The same as another client. */
  public WorkerOptions withClient(Owner client) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }

  /** The same with this many tasks at a time. */
  public WorkerOptions withConcurrency(int concurrency) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }

  /** The same with another lease. */
  public WorkerOptions withLease(Duration lease) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }

  /** The same in another order. */
  public WorkerOptions withOrder(Claim.Order order) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }

  /** The same with another treatment of failing tasks. */
  public WorkerOptions withPoison(Poison poison) {
    return new WorkerOptions(client, groups, concurrency, lease, order, poison);
  }
}

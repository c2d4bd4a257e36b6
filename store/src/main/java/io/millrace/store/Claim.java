package io.millrace.store;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request for ownership of waiting tasks for some time. Create one with {@link #of} and the
 * {@code with} methods.
 *
 * <p>If tasks with a key or a priority wait in a group, its keys take turns, see {@link Task.Lane}.
 * The limits of the group apply to every claim, see {@link Throttling}.
 *
 * @param client the client that will own the tasks
 * @param groups the groups to take tasks from, tried in this order; at least one
 * @param leaseMillis how long the claim lasts in store time, not negative
 * @param count the largest number of tasks to take, from 1 to the store's limit; fewer are taken if
 *     fewer are waiting
 * @param order which of the waiting tasks to take
 * @param whileFewerThan take from a group only while fewer than this many of its tasks are claimed;
 *     0 for no limit
 * @param waitMillis how long to wait, in store time, for a first task if none can be taken; 0 not
 *     to wait
 * @param depends tasks that must exist; if a reference has an id, unchanged
 * @param requestId makes the claim repeatable, as {@link Transaction#requestId()}; null for none
 */
public record Claim(
    Owner client,
    List<String> groups,
    long leaseMillis,
    int count,
    Order order,
    int whileFewerThan,
    long waitMillis,
    List<TaskRef> depends,
    @Nullable String requestId)
    implements Command {

  public Claim {
    groups = List.copyOf(groups);
    depends = List.copyOf(depends);
  }

  /** A claim of one random task of one group, without waiting. */
  public static Claim of(Owner client, String group, Duration lease) {
    return new Claim(
        client, List.of(group), lease.toMillis(), 1, Order.RANDOM, 0, 0, List.of(), null);
  }

  /** The same claim for these groups, in this order. */
  public Claim withGroups(List<String> groups) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** The same claim for up to this many tasks. */
  public Claim withCount(int count) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** The same claim in another order. */
  public Claim withOrder(Order order) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** The same claim, only while fewer than {@code limit} tasks of the group are claimed. */
  public Claim withLimit(int limit) {
    return new Claim(
        client, groups, leaseMillis, count, order, limit, waitMillis, depends, requestId);
  }

  /** The same claim, waiting for up to this long. */
  public Claim withWait(Duration wait) {
    return new Claim(
        client,
        groups,
        leaseMillis,
        count,
        order,
        whileFewerThan,
        wait.toMillis(),
        depends,
        requestId);
  }

  /** The same claim, only if these tasks exist. */
  public Claim withDepends(List<TaskRef> depends) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** The same claim with this request id. */
  public Claim withRequestId(@Nullable String requestId) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** Which of a group's waiting tasks a claim takes. */
  public enum Order {
    /**
     * A random one, so that a task that no worker can finish does not block the others. Of a key,
     * and of tasks with priorities, the oldest.
     */
    RANDOM,
    /**
     * The one that became available first; if several did at the same time, the smallest origin.
     */
    OLDEST,
    /** The one that became available last; if several did at the same time, the largest origin. */
    NEWEST
  }
}

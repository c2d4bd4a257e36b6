package io.millrace.store;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request to own waiting tasks for some time. Make one with {@link #of} and the {@code with}
 * methods.
 *
 * @param client the client that claims and will own them
 * @param groups the groups to take from, tried in this order; at least one
 * @param leaseMillis how long the claim lasts in store time, not negative
 * @param count the most tasks to take, from 1 to the store's limit; fewer are taken if fewer wait
 * @param order which of the waiting tasks to take
 * @param whileFewerThan take from a group only while fewer than this many of its tasks are claimed;
 *     0 for no such limit
 * @param waitMillis how long to wait, in store time, for a first task if none can be taken; 0
 *     answers at once
 * @param depends tasks that must be there, unchanged if an id is expected
 * @param requestId repeats the answer as in {@link Transaction#requestId()}; null for none
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

  /** One task of one group, picked at random, without waiting. */
  public static Claim of(Owner client, String group, Duration lease) {
    return new Claim(
        client, List.of(group), lease.toMillis(), 1, Order.RANDOM, 0, 0, List.of(), null);
  }

  /** The same from these groups, in this order. */
  public Claim withGroups(List<String> groups) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** The same for up to this many tasks. */
  public Claim withCount(int count) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** The same in another order. */
  public Claim withOrder(Order order) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** The same, only while fewer than {@code limit} tasks of the group are claimed. */
  public Claim withLimit(int limit) {
    return new Claim(
        client, groups, leaseMillis, count, order, limit, waitMillis, depends, requestId);
  }

  /** The same, waiting for up to this long. */
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

  /** The same, only while these tasks are there. */
  public Claim withDepends(List<TaskRef> depends) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** The same, repeatable under this id. */
  public Claim withRequestId(@Nullable String requestId) {
    return new Claim(
        client, groups, leaseMillis, count, order, whileFewerThan, waitMillis, depends, requestId);
  }

  /** Which of a group's waiting tasks a claim takes. */
  public enum Order {
    /** Any, so that a task that no worker can finish does not block the others. */
    RANDOM,
    /** The one that became available first; of several at the same time, the smallest origin. */
    OLDEST,
    /** The one that became available last; of several at the same time, the largest origin. */
    NEWEST
  }
}

package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * The store's unit of work. It is immutable: each change replaces it by a new task with a larger
 * id. So if a task with this id exists, all its fields are as they are here.
 *
 * @param id unique for ever, increasing, 1 to 2^53 - 1
 * @param origin the first id of this task, which claims and updates keep
 * @param group the name of its group, which never changes; 1 to 512 bytes of UTF-8
 * @param availableAtMillis the store time from which any client may claim it, in milliseconds since
 *     the epoch; before that, the task is delayed or claimed
 * @param owner the only client that may change it until then; null if it is delayed. After that
 *     time, the last owner, who has no right to it any more
 * @param token the fencing token: the id that the current claim gave, which renewals keep; 0 if the
 *     task is not held through a claim
 * @param claims how many times it has been claimed, from 0
 * @param data its content, which the store does not interpret
 * @param lane its key and priority, which never change; null for an empty key and priority 0
 */
public record Task(
    long id,
    long origin,
    String group,
    long availableAtMillis,
    @Nullable Owner owner,
    long token,
    int claims,
    Bytes data,
    @Nullable Lane lane) {

  /** A task with an empty key and priority 0. */
  public Task(
      long id,
      long origin,
      String group,
      long availableAtMillis,
      @Nullable Owner owner,
      long token,
      int claims,
      Bytes data) {
    this(id, origin, group, availableAtMillis, owner, token, claims, data, null);
  }

  /** The state of this task at a store time, in milliseconds since the epoch. */
  public State stateAt(long nowMillis) {
    if (availableAtMillis <= nowMillis) {
      return State.WAITING;
    }
    return owner == null ? State.DELAYED : State.CLAIMED;
  }

  /** Whether it is held through a claim; only such tasks count against claim limits. */
  public boolean heldByClaim() {
    return token != 0;
  }

  /** A reference to exactly this task, which does not resolve any more once it has changed. */
  public TaskRef ref() {
    return TaskRef.id(id);
  }

  /** The same task with other data. */
  public Task withData(Bytes other) {
    return new Task(id, origin, group, availableAtMillis, owner, token, claims, other, lane);
  }

  /** Its key in the group, for example the user for whom it is done; empty for none. */
  public String key() {
    return lane == null ? "" : lane.key();
  }

  /** Its priority, from 0, the lowest, to {@link Lane#MAX_PRIORITY}. */
  public int priority() {
    return lane == null ? 0 : lane.priority();
  }

  /**
   * Where a task waits in its group. The keys of a group take turns, so that one with many tasks
   * does not delay the others; the tasks of a key are taken by priority and age.
   *
   * @param key the key, up to 512 bytes of UTF-8; empty for the tasks without a key, which take
   *     their turn together
   * @param priority from 0, the lowest, to {@link #MAX_PRIORITY}
   */
  public record Lane(String key, int priority) {
    /** The highest priority: 9. */
    public static final int MAX_PRIORITY = 9;

    /** The lane of this key and priority; null for an empty key and priority 0. */
    public static @Nullable Lane of(String key, int priority) {
      return key.isEmpty() && priority == 0 ? null : new Lane(key, priority);
    }
  }

  /** The state of a task at a store time. */
  public enum State {
    /** Any client may claim it. */
    WAITING,
    /** Its time has not come and nobody owns it. */
    DELAYED,
    /** Only its owner may change it until its time comes. */
    CLAIMED
  }
}

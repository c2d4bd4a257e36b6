package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * The kernel's unit of work: an immutable value. If its id is in the store, every field is known of
 * it, since each change makes a new task with a larger id.
 *
 * @param id unique for ever, growing, 1 to 2^53 - 1
 * @param origin the first id that this task had, kept through claims and updates
 * @param group the name of the group it belongs to for life, 1 to 512 bytes of UTF-8
 * @param availableAtMillis the store time from which anybody may claim it, in milliseconds since
 *     the epoch; while it lies ahead the task is delayed or claimed
 * @param owner who may change it until then; null for none: the task is then delayed, not claimed.
 *     Once the time has come it only tells whose lease ended, and gives no right
 * @param token the fencing token: the id that the current claim gave, kept by renewals; 0 if the
 *     task is not held through a claim
 * @param claims how often it has been claimed, from 0
 * @param data what its users put in; never interpreted
 */
public record Task(
    long id,
    long origin,
    String group,
    long availableAtMillis,
    @Nullable Owner owner,
    long token,
    int claims,
    Bytes data) {

  /** What this task is at a store time in milliseconds. */
  public State stateAt(long nowMillis) {
    if (availableAtMillis <= nowMillis) {
      return State.WAITING;
    }
    return owner == null ? State.DELAYED : State.CLAIMED;
  }

  /** Whether a claim gave this task to its owner; only such tasks count against claim limits. */
  public boolean heldByClaim() {
    return token != 0;
  }

  /** Names exactly this task: a reference that no longer resolves once it has changed. */
  public TaskRef ref() {
    return TaskRef.id(id);
  }

  /** The same task with other data. */
  public Task withData(Bytes other) {
    return new Task(id, origin, group, availableAtMillis, owner, token, claims, other);
  }

  /** What a task is at a moment of store time. */
  public enum State {
    /** Anybody may claim it. */
    WAITING,
    /** Its time has not come and nobody owns it. */
    DELAYED,
    /** Its owner alone may change it until its time comes. */
    CLAIMED
  }
}

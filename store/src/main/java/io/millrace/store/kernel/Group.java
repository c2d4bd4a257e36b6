package io.millrace.store.kernel;

import io.millrace.store.GroupSummary;
import io.millrace.store.Task;
import java.util.Comparator;

/**
 * The tasks of one group: those that wait and those that are held, the delayed and the owned ones,
 * each in order of (available time, origin).
 */
final class Group {
  static final Comparator<Group> BY_NAME = (left, right) -> left.name().compareTo(right.name());

  /** The value of {@link #alarm} when nothing is held. */
  static final long NO_ALARM = Long.MAX_VALUE;

  private static final Comparator<Task> BY_TIME =
      (left, right) -> {
        int byTime = Long.compare(left.availableAtMillis(), right.availableAtMillis());
        return byTime != 0 ? byTime : Long.compare(left.origin(), right.origin());
      };

  private static final KeyColumn<Task> NO_KEYS = new TimeColumn(0);
  private static final OrderedTree<Task> NO_TASKS =
      new OrderedTree<>(BY_TIME, NO_KEYS, new Edition());

  private final String name;
  private final long edition;
  private final OrderedTree<Task> waiting;
  private final OrderedTree<Task> held;
  private int claimed;
  private int delayed;

  private Group(
      String name,
      long edition,
      OrderedTree<Task> waiting,
      OrderedTree<Task> held,
      int claimed,
      int delayed) {
    this.name = name;
    this.edition = edition;
    this.waiting = waiting;
    this.held = held;
    this.claimed = claimed;
    this.delayed = delayed;
  }

  /** What looks like a group of this name to a search, and is not to be changed. */
  static Group probe(String name) {
    return new Group(name, 0, NO_TASKS, NO_TASKS, 0, 0);
  }

  /** An empty group. */
  static Group named(String name, Edition edition) {
    return new Group(
        name,
        edition.current(),
        new OrderedTree<>(BY_TIME, NO_KEYS, edition),
        new OrderedTree<>(BY_TIME, NO_KEYS, edition),
        0,
        0);
  }

  /** This group where it was made in the current edition, else a copy that may be changed. */
  Group writable(long current) {
    return edition == current
        ? this
        : new Group(name, current, waiting.copy(), held.copy(), claimed, delayed);
  }

  String name() {
    return name;
  }

  int waitingCount() {
    return waiting.size();
  }

  int claimedCount() {
    return claimed;
  }

  boolean isEmpty() {
    return waiting.isEmpty() && held.isEmpty();
  }

  /** The waiting task with this many before it. */
  Task waitingAt(int rank) {
    return waiting.select(rank);
  }

  /** The time of the first held task, or {@link #NO_ALARM}. */
  long alarm() {
    return held.isEmpty() ? NO_ALARM : held.first().availableAtMillis();
  }

  /** Adds a task where it belongs at {@code nowMillis}. */
  void add(Task task, long nowMillis) {
    if (task.availableAtMillis() <= nowMillis) {
      waiting.insert(task);
    } else {
      held.insert(task);
      count(task, 1);
    }
  }

  /** Removes a task that is there; {@code nowMillis} is the largest yet. */
  void remove(Task task, long nowMillis) {
    // One whose time has come may still be held, until it is its turn to be released.
    if (task.availableAtMillis() > nowMillis || !waiting.remove(task)) {
      held.remove(task);
      count(task, -1);
    }
  }

  /** Moves the first held task to the waiting ones. */
  void release() {
    Task task = held.first();
    held.remove(task);
    count(task, -1);
    waiting.insert(task);
  }

  private void count(Task task, int by) {
    if (task.heldByClaim()) {
      claimed += by;
    }
    if (task.owner() == null) {
      delayed += by;
    }
  }

  GroupSummary summary() {
    return new GroupSummary(name, waiting.size(), delayed, held.size() - delayed, claimed);
  }

  FrozenTree<Task> frozenWaiting() {
    return waiting.freeze();
  }

  FrozenTree<Task> frozenHeld() {
    return held.freeze();
  }
}

package io.millrace.store.kernel.state;

import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupSummary;
import java.util.Comparator;

/**
 * The tasks of one group: those that wait and those that are held, the delayed and the owned ones,
 * each in order of (available time, origin).
 */
public final class Group {
  static final Comparator<Group> BY_NAME = (left, right) -> left.name().compareTo(right.name());

  /** The value of {@link #nextDueMillis} when nothing is held. */
  static final long NEVER = Long.MAX_VALUE;

  private static final Comparator<Task> BY_TIME =
      (left, right) -> {
        int byTime = Long.compare(left.availableAtMillis(), right.availableAtMillis());
        return byTime != 0 ? byTime : Long.compare(left.origin(), right.origin());
      };

  private static final KeyColumn<Task> NO_KEYS = new TimeColumn(0);
  private static final OrderedTree<Task> NO_TASKS =
      new OrderedTree<>(BY_TIME, NO_KEYS, new CopyGeneration());

  private final String name;
  private final long generation;
  private final OrderedTree<Task> waiting;
  private final OrderedTree<Task> held;
  private int claimed;
  private int delayed;

  private Group(
      String name,
      long generation,
      OrderedTree<Task> waiting,
      OrderedTree<Task> held,
      int claimed,
      int delayed) {
    this.name = name;
    this.generation = generation;
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
  static Group named(String name, CopyGeneration generation) {
    return new Group(
        name,
        generation.current(),
        new OrderedTree<>(BY_TIME, NO_KEYS, generation),
        new OrderedTree<>(BY_TIME, NO_KEYS, generation),
        0,
        0);
  }

  /** This group if it was made in the current generation, otherwise a copy that may be changed. */
  Group writable(long current) {
    return generation == current
        ? this
        : new Group(name, current, waiting.copy(), held.copy(), claimed, delayed);
  }

  /** The name. */
  public String name() {
    return name;
  }

  /** How many tasks wait to be claimed. */
  public int waitingCount() {
    return waiting.size();
  }

  /** How many tasks are claimed. */
  public int claimedCount() {
    return claimed;
  }

  boolean isEmpty() {
    return waiting.isEmpty() && held.isEmpty();
  }

  /** The waiting task with this many before it. */
  public Task waitingAt(int rank) {
    return waiting.select(rank);
  }

  /** The time of the first held task, or {@link #NEVER}. */
  long nextDueMillis() {
    return held.isEmpty() ? NEVER : held.first().availableAtMillis();
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

  /** The waiting tasks as they are now; see {@link OrderedTree#freeze}. */
  public FrozenTree<Task> frozenWaiting() {
    return waiting.freeze();
  }

  /** The delayed and owned tasks as they are now; see {@link OrderedTree#freeze}. */
  public FrozenTree<Task> frozenHeld() {
    return held.freeze();
  }

  /**
   * A column of (available time, origin). It keeps numbers, since the tasks of a large group lie
   * anywhere in memory and a search should not have to look at them.
   */
  private static final class TimeColumn extends KeyColumn<Task> {
    private final long[] times;
    private final long[] origins;

    /** A column for so many keys. */
    TimeColumn(int capacity) {
      this(new long[capacity], new long[capacity]);
    }

    private TimeColumn(long[] times, long[] origins) {
      this.times = times;
      this.origins = origins;
    }

    @Override
    KeyColumn<Task> fresh(int capacity) {
      return new TimeColumn(capacity);
    }

    @Override
    KeyColumn<Task> copy() {
      return new TimeColumn(times.clone(), origins.clone());
    }

    @Override
    int compare(int index, Task probe) {
      int byTime = Long.compare(times[index], probe.availableAtMillis());
      return byTime != 0 ? byTime : Long.compare(origins[index], probe.origin());
    }

    @Override
    void set(int index, Task task) {
      times[index] = task.availableAtMillis();
      origins[index] = task.origin();
    }

    @Override
    void copy(KeyColumn<Task> source, int from, int to, int count) {
      TimeColumn column = (TimeColumn) source;
      System.arraycopy(column.times, from, times, to, count);
      System.arraycopy(column.origins, from, origins, to, count);
    }

    @Override
    void clear(int from, int to) {
      // Numbers keep nothing from being freed.
    }
  }
}

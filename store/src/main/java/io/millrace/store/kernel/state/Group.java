package io.millrace.store.kernel.state;

import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupSummary;
import java.util.Comparator;

/**
 * The tasks of one group: the waiting ones, and the held ones, which are delayed or owned; each in
 * order of available time and then origin.
 */
public final class Group {
  static final Comparator<Group> BY_NAME = (left, right) -> left.name().compareTo(right.name());

  /** The value of {@link #nextDueMillis} if no task is held. */
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

  /** A group with this name for searches, which must not be changed. */
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

  /** This group if it is of the current generation, otherwise a copy that may be changed. */
  Group writable(long current) {
    return generation == current
        ? this
        : new Group(name, current, waiting.copy(), held.copy(), claimed, delayed);
  }

  /** The name. */
  public String name() {
    return name;
  }

  /** The number of waiting tasks. */
  public int waitingCount() {
    return waiting.size();
  }

  /** The number of tasks that are held through a claim. */
  public int claimedCount() {
    return claimed;
  }

  boolean isEmpty() {
    return waiting.isEmpty() && held.isEmpty();
  }

  /** The waiting task with this rank, from 0. */
  public Task waitingAt(int rank) {
    return waiting.select(rank);
  }

  /** When the first held task is released, or {@link #NEVER}. */
  long nextDueMillis() {
    return held.isEmpty() ? NEVER : held.first().availableAtMillis();
  }

  /** Adds a task to the waiting or the held ones, according to its time. */
  void add(Task task, long nowMillis) {
    if (task.availableAtMillis() <= nowMillis) {
      waiting.insert(task);
    } else {
      held.insert(task);
      count(task, 1);
    }
  }

  /** Removes a task of this group; {@code nowMillis} is the current store time. */
  void remove(Task task, long nowMillis) {
    // A task whose time has come may still be held, until advance() releases it.
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

  /** The current waiting tasks; see {@link OrderedTree#freeze}. */
  public FrozenTree<Task> frozenWaiting() {
    return waiting.freeze();
  }

  /** The current delayed and owned tasks; see {@link OrderedTree#freeze}. */
  public FrozenTree<Task> frozenHeld() {
    return held.freeze();
  }

  Frozen freeze() {
    return new Frozen(frozenWaiting(), frozenHeld());
  }

  /** The tasks of a group at one moment: the waiting ones, and the delayed and owned ones. */
  public record Frozen(FrozenTree<Task> waiting, FrozenTree<Task> held) {}

  /**
   * A column of available times and origins. It keeps copies of the numbers, so that a search does
   * not have to access the tasks, which lie anywhere in memory.
   */
  private static final class TimeColumn extends KeyColumn<Task> {
    private final long[] times;
    private final long[] origins;

    /** An empty column with this capacity. */
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
      // Numbers do not keep objects alive.
    }
  }
}

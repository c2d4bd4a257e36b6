package io.millrace.store.kernel.state;

import io.millrace.store.EmbeddedTaskStore.ReachedLimit;
import io.millrace.store.EmbeddedTaskStore.ReachedLimit.Scope;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.kernel.state.GroupLimits.SharedLimit;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one group: the waiting ones, and the held ones, which are delayed or owned; each in
 * order of available time and then origin. The waiting ones that have a key or a priority are apart
 * from those without.
 */
public final class Group {
  static final Comparator<Group> BY_NAME = (left, right) -> left.name().compareTo(right.name());

  /** The value of {@link #nextDueMillis} if no task is held. */
  static final long NEVER = Long.MAX_VALUE;

  static final Comparator<Task> BY_TIME =
      (left, right) -> {
        int byTime = Long.compare(left.availableAtMillis(), right.availableAtMillis());
        return byTime != 0 ? byTime : Long.compare(left.origin(), right.origin());
      };

  static final KeyColumn<Task> NO_KEYS = new TimeColumn(0);
  private static final OrderedTree<Task> NO_TASKS =
      new OrderedTree<>(BY_TIME, NO_KEYS, new CopyGeneration());

  private final String name;
  private final long generation;
  private final OrderedTree<Task> waiting;
  private final OrderedTree<Task> inLanes;
  private final OrderedTree<Task> held;

  /** Which task is next; null if none has had a key or a priority. */
  private @Nullable Lanes lanes;

  private @Nullable GroupLimits limits;
  private int claimed;
  private int delayed;

  private Group(
      String name,
      long generation,
      OrderedTree<Task> waiting,
      OrderedTree<Task> inLanes,
      OrderedTree<Task> held,
      @Nullable Lanes lanes,
      @Nullable GroupLimits limits,
      int claimed,
      int delayed) {
    this.name = name;
    this.generation = generation;
    this.waiting = waiting;
    this.inLanes = inLanes;
    this.held = held;
    this.lanes = lanes;
    this.limits = limits;
    this.claimed = claimed;
    this.delayed = delayed;
  }

  /** A group with this name for searches, which must not be changed. */
  static Group probe(String name) {
    return new Group(name, 0, NO_TASKS, NO_TASKS, NO_TASKS, null, null, 0, 0);
  }

  /** An empty group. */
  static Group named(String name, @Nullable GroupLimits limits, CopyGeneration generation) {
    return new Group(
        name,
        generation.current(),
        new OrderedTree<>(BY_TIME, NO_KEYS, generation),
        new OrderedTree<>(BY_TIME, NO_KEYS, generation),
        new OrderedTree<>(BY_TIME, NO_KEYS, generation),
        null,
        limits,
        0,
        0);
  }

  /** This group if it is of the current generation, otherwise a copy that may be changed. */
  Group writable(long current) {
    return generation == current
        ? this
        : new Group(
            name,
            current,
            waiting.copy(),
            inLanes.copy(),
            held.copy(),
            lanes,
            limits,
            claimed,
            delayed);
  }

  /** The name. */
  public String name() {
    return name;
  }

  /** The number of waiting tasks. */
  public int waitingCount() {
    return waiting.size() + inLanes.size();
  }

  /** When the oldest waiting task became available, or {@link #NEVER}. */
  long oldestWaitingMillis() {
    long oldest = waiting.isEmpty() ? NEVER : waiting.first().availableAtMillis();
    return inLanes.isEmpty() ? oldest : Math.min(oldest, inLanes.first().availableAtMillis());
  }

  /** The number of tasks that are held through a claim. */
  public int claimedCount() {
    return claimed;
  }

  boolean isEmpty() {
    return waiting.isEmpty() && inLanes.isEmpty() && held.isEmpty();
  }

  /** Whether waiting tasks have keys or priorities, so that {@link #next} says which are next. */
  public boolean hasTurns() {
    return !inLanes.isEmpty();
  }

  /**
   * Up to {@code count} waiting tasks that are next, in groups with turns.
   *
   * @param taken how many tasks of a key the command has taken already, from this group or others
   *     with the same limits; null if it has taken none
   */
  public List<Task> next(
      int count, boolean newest, long nowMillis, @Nullable ToIntFunction<String> taken) {
    return lanes == null ? List.of() : lanes.next(count, newest, nowMillis, taken);
  }

  /** The limits that apply to this group; null if there are none. */
  public @Nullable GroupLimits limits() {
    return limits;
  }

  /** The limit that keeps a waiting task from starting, for a claim that found no room. */
  public ReachedLimit reached(long nowMillis) {
    GroupLimits own = limits;
    if (own == null) {
      return new ReachedLimit(Scope.GROUP, name);
    }
    if (own.roomOfGroups(nowMillis) > 0) {
      for (SharedLimit shared : own.shared()) {
        if (shared.room(nowMillis) <= 0) {
          return new ReachedLimit(Scope.SHARED, shared.name);
        }
      }
    }
    return own.reached();
  }

  /** The waiting task with this rank, from 0, of those with neither key nor priority. */
  public Task waitingAt(int rank) {
    return waiting.select(rank);
  }

  /** How many more tasks of a key may start now under the limit of each key. */
  public int roomOfKey(String key, long nowMillis) {
    return lanes == null || key.isEmpty() ? Integer.MAX_VALUE : lanes.room(key, nowMillis);
  }

  /** An equal lane that tasks of this group use already, or the given one. */
  public Task.@Nullable Lane shared(Task.@Nullable Lane lane) {
    return lane == null || lanes == null ? lane : lanes.shared(lane);
  }

  /** When the first held task is released, or {@link #NEVER}. */
  long nextDueMillis() {
    return held.isEmpty() ? NEVER : held.first().availableAtMillis();
  }

  /** Adds a task to the waiting or the held ones, according to its time. */
  void add(Task task, long nowMillis, Throttles throttles) {
    if (task.lane() != null && lanes == null) {
      lanes = new Lanes(limits, throttles, waiting);
    }
    if (task.availableAtMillis() <= nowMillis) {
      addWaiting(task, nowMillis);
    } else {
      held.insert(task);
      count(task, 1, nowMillis);
    }
  }

  private void addWaiting(Task task, long nowMillis) {
    Task.Lane lane = task.lane();
    if (lane != null && lanes != null) {
      inLanes.insert(task);
      lanes.add(task, lane, nowMillis);
    } else {
      waiting.insert(task);
      plainChanged();
    }
  }

  /** Removes a task of this group; {@code nowMillis} is the current store time. */
  void remove(Task task, long nowMillis) {
    // A task whose time has come may still be held, until advance() releases it.
    if (task.availableAtMillis() > nowMillis || !removeWaiting(task, nowMillis)) {
      held.remove(task);
      count(task, -1, nowMillis);
    }
  }

  private boolean removeWaiting(Task task, long nowMillis) {
    Task.Lane lane = task.lane();
    if (lane != null && lanes != null) {
      boolean removed = inLanes.remove(task);
      if (removed) {
        lanes.remove(task, lane, nowMillis);
      }
      return removed;
    }
    boolean removed = waiting.remove(task);
    plainChanged();
    return removed;
  }

  private void plainChanged() {
    if (lanes != null) {
      lanes.plainChanged(waiting);
    }
  }

  /** Moves the first held task to the waiting ones. */
  void release(long nowMillis) {
    Task task = held.first();
    held.remove(task);
    count(task, -1, nowMillis);
    addWaiting(task, nowMillis);
  }

  /** A task of this key has been claimed. */
  void started(String key, long nowMillis, Throttles throttles) {
    if (limits != null) {
      throttles.started(limits, nowMillis);
    }
    if (lanes != null) {
      lanes.started(key, nowMillis);
    }
  }

  /** The limit of a key may have changed. */
  void refresh(String key, long nowMillis) {
    if (lanes != null) {
      lanes.refresh(key, nowMillis);
    }
  }

  /** Restores when all starts of a key are possible again. */
  void restoreStarts(String key, long fullAtMicros, long nowMillis) {
    if (lanes != null) {
      lanes.restoreStarts(key, fullAtMicros, nowMillis);
    }
  }

  /** Has these limits apply from now on; {@link #refreshAll} is to follow. */
  void bind(@Nullable GroupLimits next) {
    limits = next;
    if (lanes != null) {
      lanes.bind(next);
    }
  }

  /** The limits of the group have changed. */
  void refreshAll(long nowMillis) {
    if (lanes != null) {
      lanes.refreshAll(nowMillis);
    }
  }

  private void count(Task task, int by, long nowMillis) {
    if (task.heldByClaim()) {
      claimed += by;
      if (lanes != null) {
        lanes.count(task.key(), by, nowMillis);
      }
    }
    if (task.owner() == null) {
      delayed += by;
    }
  }

  GroupSummary summary() {
    return new GroupSummary(name, waitingCount(), delayed, held.size() - delayed, claimed);
  }

  /** The current waiting tasks; see {@link Frozen#waiting}. */
  public List<Task> frozenWaiting() {
    return Listings.joined(inLanes.freeze(), waiting.freeze());
  }

  /** The current delayed and owned tasks; see {@link OrderedTree#freeze}. */
  public FrozenTree<Task> frozenHeld() {
    return held.freeze();
  }

  /** The current tasks; see {@link OrderedTree#freeze}. */
  Frozen freeze() {
    return new Frozen(inLanes.freeze(), waiting.freeze(), held.freeze());
  }

  /**
   * The tasks of a group at one moment, each in order of available time.
   *
   * @param inLanes the waiting ones with a key or priority
   * @param others the other waiting ones
   * @param held the delayed and owned ones
   */
  public record Frozen(FrozenTree<Task> inLanes, FrozenTree<Task> others, FrozenTree<Task> held) {
    /** The waiting ones, first those with a key or priority. */
    public List<Task> waiting() {
      return Listings.joined(inLanes, others);
    }
  }

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

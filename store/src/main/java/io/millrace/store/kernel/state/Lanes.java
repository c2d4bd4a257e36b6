package io.millrace.store.kernel.state;

import io.millrace.store.Task;
import io.millrace.store.kernel.state.GroupLimits.SpanningKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Which of the waiting tasks of a group are next, if tasks have keys or priorities.
 *
 * <p>Keys that have waiting tasks and are below their limits take turns. A key takes as many tasks
 * in a turn as its weight, and of its tasks the one that comes first by time, as if each level of
 * priority had made it older. So a claim looks only at keys whose tasks it takes, however many keys
 * and tasks wait.
 *
 * <p>This is an index of the tasks, like the trees of {@link Group}, but readers of a frozen state
 * do not use it. Whose turn is next is not recorded: after a restart the turns begin anew.
 */
final class Lanes {
  /** How many tasks of each priority, and of those without a lane, are passed over: none. */
  private static final int[] NONE_TAKEN = new int[Task.Lane.MAX_PRIORITY + 2];

  /** The index of tasks without a lane in such an array. */
  private static final int PLAIN = Task.Lane.MAX_PRIORITY + 1;

  private final Throttles throttles;
  private final Map<String, Key> keys = new HashMap<>();

  /** The keys of which a task can be taken, in a circle in the order of their turns. */
  private final Key turns = new Key("");

  /** The limits of the group; null if there are none. */
  private @Nullable GroupLimits limits;

  /** The waiting tasks with neither key nor priority, which belong to the empty key. */
  private OrderedTree<Task> plain;

  /** The key that was looked up last; null if it is gone. */
  private @Nullable Key latest;

  Lanes(@Nullable GroupLimits limits, Throttles throttles, OrderedTree<Task> plain) {
    this.limits = limits;
    this.throttles = throttles;
    this.plain = plain;
    turns.next = turns;
    turns.previous = turns;
    plainChanged(plain);
  }

  /** The tasks of one key. */
  final class Key {
    final String name;

    /** The waiting tasks by priority, as far as the highest that was used. */
    private @Nullable TaskLine[] lines = new TaskLine[1];

    private int waitingCount;

    /** How many of its tasks in this group are claimed. */
    int running;

    /** How many tasks it may still take in its turn. */
    private int left;

    /** See {@link io.millrace.store.Throttling.Limit#possible}; not used if it spans groups. */
    private long fullAtMicros;

    /** The same key in all groups of a prefix, if that has the limits; null otherwise. */
    private @Nullable SpanningKey spanning;

    /** Its neighbours in the order of turns; null while no task of it can be taken. */
    private @Nullable Key next;

    private @Nullable Key previous;

    Key(String name) {
      this.name = name;
    }

    private @Nullable TaskLine line(int priority) {
      return priority < lines.length ? lines[priority] : null;
    }

    private boolean hasWaiting() {
      return waitingCount > 0 || (name.isEmpty() && !plain.isEmpty());
    }

    private long fullAtMicros() {
      return spanning == null ? fullAtMicros : spanning.fullAtMicros;
    }

    /** How many more of its tasks may start now. */
    private int room(long nowMillis) {
      return limits == null || name.isEmpty()
          ? Integer.MAX_VALUE
          : GroupLimits.room(
              limits.limits.key(),
              spanning == null ? running : spanning.running,
              fullAtMicros(),
              nowMillis);
    }

    private int weight() {
      return limits == null ? 1 : limits.limits.weight(name);
    }

    private void enqueue() {
      Key last = turns.previous;
      if (last != null) {
        next = turns;
        previous = last;
        last.next = this;
        turns.previous = this;
      }
    }

    private void dequeue() {
      if (next != null && previous != null) {
        next.previous = previous;
        previous.next = next;
        next = null;
        previous = null;
      }
    }

    /** Has it take turns, or not, or forgets it, according to its tasks and limits. */
    void refresh(long nowMillis) {
      if (hasWaiting()) {
        if (room(nowMillis) > 0) {
          if (next == null) {
            enqueue();
            left = weight();
          }
          return;
        }
        if (limits != null) {
          throttles.wakeForKey(limits, name, fullAtMicros(), nowMillis);
        }
      } else if (running == 0) {
        forget(this);
      }
      dequeue();
    }

    private void refreshAllGroups(long nowMillis) {
      if (spanning == null) {
        refresh(nowMillis);
      } else {
        // A copy, since a key without tasks leaves.
        List.copyOf(spanning.members).forEach(member -> member.refresh(nowMillis));
      }
    }

    private void bind() {
      if (limits != null && !name.isEmpty()) {
        fullAtMicros = throttles.fullAtOfKey(limits, name);
        if (limits.ofPrefix) {
          spanning = limits.join(this, fullAtMicros);
        }
      }
    }

    private void unbind() {
      if (limits != null && spanning != null) {
        limits.leave(this, spanning);
        spanning = null;
      }
    }
  }

  private @Nullable Key find(String name) {
    Key found = latest;
    if (found == null || !found.name.equals(name)) {
      found = keys.get(name);
      latest = found;
    }
    return found;
  }

  private Key key(String name) {
    Key found = find(name);
    if (found == null) {
      found = new Key(name);
      keys.put(name, found);
      latest = found;
      found.bind();
    }
    return found;
  }

  private void forget(Key key) {
    keys.remove(key.name);
    latest = null;
    key.unbind();
  }

  /** An equal lane that tasks of this group use already, or the given one. */
  Task.Lane shared(Task.Lane lane) {
    Key key = find(lane.key());
    TaskLine line = key == null ? null : key.line(lane.priority());
    return line == null ? lane : line.lane;
  }

  /** Adds a waiting task that has a lane. */
  void add(Task task, Task.Lane lane, long nowMillis) {
    Key key = key(lane.key());
    if (key.lines.length <= lane.priority()) {
      key.lines = Arrays.copyOf(key.lines, lane.priority() + 1);
    }
    TaskLine line = key.lines[lane.priority()];
    if (line == null) {
      line = new TaskLine(lane);
      key.lines[lane.priority()] = line;
    }
    line.add(task);
    key.waitingCount++;
    key.refresh(nowMillis);
  }

  /** Removes a waiting task that has a lane. */
  void remove(Task task, Task.Lane lane, long nowMillis) {
    Key key = find(lane.key());
    TaskLine line = key == null ? null : key.line(lane.priority());
    if (key != null && line != null) {
      line.remove(task);
      key.waitingCount--;
      key.refresh(nowMillis);
    }
  }

  /** The tasks without a lane have changed; they are never limited by their key. */
  void plainChanged(OrderedTree<Task> now) {
    plain = now;
    if (!plain.isEmpty() || keys.containsKey("")) {
      key("").refresh(0);
    }
  }

  /** Changes the number of claimed tasks of a key. */
  void count(String name, int by, long nowMillis) {
    if (!name.isEmpty()) {
      Key key = key(name);
      key.running += by;
      if (key.spanning != null) {
        key.spanning.running += by;
      }
      key.refreshAllGroups(nowMillis);
    }
  }

  /** A claimed task of this key has started; its turn may be over. */
  void started(String name, long nowMillis) {
    Key key = find(name);
    if (key == null) {
      return;
    }
    key.left--;
    if (key.left <= 0) {
      key.left = key.weight();
      if (key.next != null) {
        key.dequeue();
        key.enqueue();
      }
    }
    if (limits != null && !name.isEmpty()) {
      setFullAt(key, throttles.startedOfKey(limits, name, key.fullAtMicros(), nowMillis));
    }
    key.refreshAllGroups(nowMillis);
  }

  private static void setFullAt(Key key, long fullAtMicros) {
    if (key.spanning == null) {
      key.fullAtMicros = fullAtMicros;
    } else {
      key.spanning.fullAtMicros = fullAtMicros;
    }
  }

  /** Restores when all starts of a key are possible again. */
  void restoreStarts(String name, long fullAtMicros, long nowMillis) {
    Key key = find(name);
    if (key != null) {
      setFullAt(key, fullAtMicros);
      key.refresh(nowMillis);
    }
  }

  /** The limit of a key may have changed. */
  void refresh(String name, long nowMillis) {
    Key key = find(name);
    if (key != null) {
      key.refresh(nowMillis);
    }
  }

  /** Has these limits apply from now on; {@link #refreshAll} is to follow. */
  void bind(@Nullable GroupLimits next) {
    keys.values().forEach(Key::unbind);
    limits = next;
    keys.values().forEach(Key::bind);
  }

  /** The limits of the group have changed. */
  void refreshAll(long nowMillis) {
    List<Key> all = new ArrayList<>(keys.values());
    all.sort(Comparator.comparing(each -> each.name));
    for (Key each : all) {
      each.left = Math.min(each.left, each.weight());
      each.refresh(nowMillis);
    }
  }

  /** How many more tasks of a key may start now. */
  int room(String name, long nowMillis) {
    Key key = keys.get(name);
    return key == null ? Integer.MAX_VALUE : key.room(nowMillis);
  }

  /**
   * Up to {@code count} tasks that are next. They stay waiting.
   *
   * @param taken how many tasks of a key the command has taken already; null for none
   */
  List<Task> next(
      int count, boolean newest, long nowMillis, @Nullable ToIntFunction<String> taken) {
    if (count == 1 && taken == null) {
      Task first = turns.next == turns || turns.next == null ? null : best(turns.next, newest);
      return first == null ? List.of() : List.of(first);
    }
    List<Task> next = new ArrayList<>(Math.min(count, 100));
    List<Cursor> more = new ArrayList<>();
    for (Key key = turns.next; next.size() < count && key != turns && key != null; key = key.next) {
      int room = key.room(nowMillis) - (taken == null ? 0 : taken.applyAsInt(key.name));
      Cursor cursor = new Cursor(key, newest, room);
      cursor.take(Math.min(key.left, count - next.size()), next);
      more.add(cursor);
    }
    while (next.size() < count && !more.isEmpty()) {
      more.removeIf(Cursor::isOver);
      for (Cursor each : more) {
        each.take(Math.min(each.key.weight(), count - next.size()), next);
      }
    }
    return next;
  }

  private @Nullable Task best(Key key, boolean newest) {
    return best(key, newest, NONE_TAKEN);
  }

  /** The task of a key that comes first after those that are taken, by priority. */
  private @Nullable Task best(Key key, boolean newest, int[] taken) {
    Task best = null;
    if (key.name.isEmpty() && taken[PLAIN] < plain.size()) {
      best = plain.select(newest ? plain.size() - 1 - taken[PLAIN] : taken[PLAIN]);
    }
    for (int priority = 0; priority < key.lines.length; priority++) {
      TaskLine line = key.lines[priority];
      int passed = taken[priority];
      if (line != null && passed < line.size()) {
        Task head = line.at(newest ? line.size() - 1 - passed : passed);
        if (best == null || isBefore(head, best, newest)) {
          best = head;
        }
      }
    }
    return best;
  }

  private boolean isBefore(Task one, Task other, boolean newest) {
    int byRank = Long.compare(rank(one, newest), rank(other, newest));
    if (byRank == 0) {
      byRank = Long.compare(other.priority(), one.priority());
    }
    if (byRank == 0) {
      byRank = newest ? Group.BY_TIME.compare(other, one) : Group.BY_TIME.compare(one, other);
    }
    return byRank < 0;
  }

  /** The smaller, the sooner: each level of priority counts as much as some time of waiting. */
  private long rank(Task task, boolean newest) {
    long bonus = task.priority() * GroupLimits.of(limits).ageingMillis();
    return (newest ? -task.availableAtMillis() : task.availableAtMillis()) - bonus;
  }

  /** Walks over the tasks of one key in the order in which they are taken. */
  private final class Cursor {
    final Key key;
    private final boolean newest;
    private final int[] taken = new int[NONE_TAKEN.length];
    private int room;

    Cursor(Key key, boolean newest, int room) {
      this.key = key;
      this.newest = newest;
      this.room = room;
    }

    boolean isOver() {
      return room <= 0 || best(key, newest, taken) == null;
    }

    void take(int count, List<Task> into) {
      for (int i = 0; i < count && room > 0; i++) {
        Task task = best(key, newest, taken);
        if (task == null) {
          return;
        }
        into.add(task);
        room--;
        taken[task.lane() == null ? PLAIN : task.priority()]++;
      }
    }
  }
}

package io.millrace.store.kernel.state;

import io.millrace.store.Task;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
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
  private final String group;
  private final Throttles throttles;
  private final Map<String, Key> keys = new HashMap<>();

  /** The keys of which a task can be taken, in the order of their turns. */
  private final Map<String, Key> turns = new LinkedHashMap<>();

  /** The waiting tasks with neither key nor priority, which belong to the empty key. */
  private OrderedTree<Task> plain;

  Lanes(String group, Throttles throttles, OrderedTree<Task> plain) {
    this.group = group;
    this.throttles = throttles;
    this.plain = plain;
    plainChanged(plain);
  }

  /** The tasks of one key. */
  private static final class Key {
    final String name;

    /** The waiting tasks by priority, as far as the highest that was used. */
    final List<NavigableSet<Task>> waiting = new ArrayList<>(1);

    /** The lanes of its tasks by priority, so that all tasks share them. */
    final Task.@Nullable Lane[] lanes = new Task.Lane[Task.Lane.MAX_PRIORITY + 1];

    int waitingCount;
    int running;

    /** How many tasks it may still take in its turn. */
    int left;

    Key(String name) {
      this.name = name;
    }
  }

  private Key key(String name) {
    return keys.computeIfAbsent(name, Key::new);
  }

  /** An equal lane that tasks of this group use already, or the given one. */
  Task.Lane shared(Task.Lane lane) {
    Key key = keys.get(lane.key());
    Task.Lane used = key == null ? null : key.lanes[lane.priority()];
    return used == null ? lane : used;
  }

  /** Adds a waiting task that has a lane. */
  void add(Task task, long nowMillis) {
    Key key = key(task.key());
    while (key.waiting.size() <= task.priority()) {
      key.waiting.add(new TreeSet<>(Group.BY_TIME));
    }
    key.waiting.get(task.priority()).add(task);
    key.lanes[task.priority()] = task.lane();
    key.waitingCount++;
    refresh(key, nowMillis);
  }

  /** Removes a waiting task that has a lane. */
  void remove(Task task, long nowMillis) {
    Key key = key(task.key());
    key.waiting.get(task.priority()).remove(task);
    key.waitingCount--;
    refresh(key, nowMillis);
  }

  /** The tasks without a lane have changed; they are never limited by their key. */
  void plainChanged(OrderedTree<Task> now) {
    plain = now;
    if (!plain.isEmpty() || keys.containsKey("")) {
      refresh(key(""), 0);
    }
  }

  /** Changes the number of claimed tasks of a key. */
  void count(String name, int by, long nowMillis) {
    if (!name.isEmpty()) {
      Key key = key(name);
      key.running += by;
      refresh(key, nowMillis);
    }
  }

  /** A claimed task of this key has started; its turn may be over. */
  void started(String name, long nowMillis) {
    Key key = keys.get(name);
    if (key == null) {
      return;
    }
    key.left--;
    if (key.left <= 0) {
      key.left = weight(key);
      if (turns.remove(name) != null) {
        turns.put(name, key);
      }
    }
    refresh(key, nowMillis);
  }

  /** The limit of a key may have changed. */
  void refresh(String name, long nowMillis) {
    Key key = keys.get(name);
    if (key != null) {
      refresh(key, nowMillis);
    }
  }

  /** The limits of the group have changed. */
  void refreshAll(long nowMillis) {
    List<Key> all = new ArrayList<>(keys.values());
    all.sort(Comparator.comparing(each -> each.name));
    for (Key each : all) {
      each.left = Math.min(each.left, weight(each));
      refresh(each, nowMillis);
    }
  }

  private int weight(Key key) {
    return throttles.of(group).weight(key.name);
  }

  private boolean hasWaiting(Key key) {
    return key.waitingCount > 0 || (key.name.isEmpty() && !plain.isEmpty());
  }

  /** Gives a key its turns, takes them away, or forgets it, according to its tasks and limits. */
  private void refresh(Key key, long nowMillis) {
    if (hasWaiting(key)) {
      if (room(key, nowMillis) > 0) {
        if (turns.putIfAbsent(key.name, key) == null) {
          key.left = weight(key);
        }
        return;
      }
      throttles.wakeForKey(group, key.name, nowMillis);
    } else if (key.running == 0) {
      keys.remove(key.name);
    }
    turns.remove(key.name);
  }

  /** How many more tasks of a key may start now. */
  private int room(Key key, long nowMillis) {
    return key.name.isEmpty()
        ? Integer.MAX_VALUE
        : throttles.roomOfKey(group, key.name, key.running, nowMillis);
  }

  /** How many more tasks of a key may start now. */
  int room(String name, long nowMillis) {
    Key key = keys.get(name);
    return key == null ? Integer.MAX_VALUE : room(key, nowMillis);
  }

  /** Up to {@code count} tasks that are next. They stay waiting. */
  List<Task> next(int count, boolean newest, long nowMillis) {
    List<Task> next = new ArrayList<>(Math.min(count, 100));
    List<Cursor> more = new ArrayList<>();
    for (Iterator<Key> it = turns.values().iterator(); next.size() < count && it.hasNext(); ) {
      Key key = it.next();
      Cursor cursor = new Cursor(key, newest, nowMillis);
      cursor.take(Math.min(key.left, count - next.size()), next);
      more.add(cursor);
    }
    while (next.size() < count && !more.isEmpty()) {
      more.removeIf(Cursor::isOver);
      for (Cursor each : more) {
        each.take(Math.min(weight(each.key), count - next.size()), next);
      }
    }
    return next;
  }

  /** Walks over the tasks of one key in the order in which they are taken. */
  private final class Cursor {
    final Key key;
    private final boolean newest;
    private final long ageingMillis;
    private final List<Iterator<Task>> rest = new ArrayList<>(1);
    private final List<@Nullable Task> heads = new ArrayList<>(1);
    private int plainTaken;
    private int room;

    Cursor(Key key, boolean newest, long nowMillis) {
      this.key = key;
      this.newest = newest;
      this.ageingMillis = throttles.of(group).ageingMillis();
      this.room = room(key, nowMillis);
      for (NavigableSet<Task> tasks : key.waiting) {
        Iterator<Task> it = newest ? tasks.descendingIterator() : tasks.iterator();
        rest.add(it);
        heads.add(it.hasNext() ? it.next() : null);
      }
    }

    boolean isOver() {
      return room == 0 || first() == null;
    }

    void take(int count, List<Task> into) {
      for (int i = 0; i < count && room > 0; i++) {
        Task task = first();
        if (task == null) {
          return;
        }
        into.add(task);
        room--;
        if (task.lane() == null) {
          plainTaken++;
        } else {
          Iterator<Task> it = rest.get(task.priority());
          heads.set(task.priority(), it.hasNext() ? it.next() : null);
        }
      }
    }

    private @Nullable Task first() {
      Task first = plainHead();
      for (Task head : heads) {
        if (head != null && (first == null || isBefore(head, first))) {
          first = head;
        }
      }
      return first;
    }

    private @Nullable Task plainHead() {
      if (!key.name.isEmpty() || plainTaken >= plain.size()) {
        return null;
      }
      return plain.select(newest ? plain.size() - 1 - plainTaken : plainTaken);
    }

    private boolean isBefore(Task one, Task other) {
      int byRank = Long.compare(rank(one), rank(other));
      if (byRank == 0) {
        byRank = Long.compare(other.priority(), one.priority());
      }
      if (byRank == 0) {
        byRank = newest ? Group.BY_TIME.compare(other, one) : Group.BY_TIME.compare(one, other);
      }
      return byRank < 0;
    }

    /** The smaller, the sooner: each level of priority counts as much as some time of waiting. */
    private long rank(Task task) {
      long bonus = task.priority() * ageingMillis;
      return (newest ? -task.availableAtMillis() : task.availableAtMillis()) - bonus;
    }
  }
}

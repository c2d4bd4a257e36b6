package io.millrace.store.kernel;

import io.millrace.store.Task;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Tasks by a number: a hash table in many small segments, each of which grows by itself, so that no
 * growth takes longer than copying a few thousand references.
 */
final class TaskIndex {
  private static final int SEGMENT_BITS = 12;
  private static final int SMALLEST = 4;

  private final ToLongFunction<Task> key;
  private final @Nullable Task[] @Nullable [] segments = new Task[1 << SEGMENT_BITS][];
  private final int[] sizes = new int[1 << SEGMENT_BITS];
  private int size;

  TaskIndex(ToLongFunction<Task> key) {
    this.key = key;
  }

  int size() {
    return size;
  }

  private static long hash(long number) {
    return number * 0x9E3779B97F4A7C15L;
  }

  private static int segmentOf(long hash) {
    return (int) (hash >>> (64 - SEGMENT_BITS));
  }

  private static int slotOf(long hash, int mask) {
    return (int) (hash >>> 16) & mask;
  }

  @Nullable Task get(long number) {
    long hash = hash(number);
    @Nullable Task[] table = segments[segmentOf(hash)];
    if (table == null) {
      return null;
    }
    int mask = table.length - 1;
    for (int slot = slotOf(hash, mask); ; slot = (slot + 1) & mask) {
      Task task = table[slot];
      if (task == null || key.applyAsLong(task) == number) {
        return task;
      }
    }
  }

  /** Adds a task whose number is not in use. */
  void put(Task task) {
    long hash = hash(key.applyAsLong(task));
    int segment = segmentOf(hash);
    @Nullable Task[] table = segments[segment];
    if (table == null) {
      table = new Task[SMALLEST];
      segments[segment] = table;
    } else if ((sizes[segment] + 1) * 4 > table.length * 3) {
      table = grow(table);
      segments[segment] = table;
    }
    place(table, task, hash);
    sizes[segment]++;
    size++;
  }

  private @Nullable Task[] grow(@Nullable Task[] table) {
    @Nullable Task[] larger = new Task[table.length * 2];
    for (Task task : table) {
      if (task != null) {
        place(larger, task, hash(key.applyAsLong(task)));
      }
    }
    return larger;
  }

  private static void place(@Nullable Task[] table, Task task, long hash) {
    int mask = table.length - 1;
    int slot = slotOf(hash, mask);
    while (table[slot] != null) {
      slot = (slot + 1) & mask;
    }
    table[slot] = task;
  }

  /** Removes the task with this number where there is one. */
  void remove(long number) {
    long hash = hash(number);
    int segment = segmentOf(hash);
    @Nullable Task[] table = segments[segment];
    if (table == null) {
      return;
    }
    int mask = table.length - 1;
    int slot = slotOf(hash, mask);
    while (true) {
      Task task = table[slot];
      if (task == null) {
        return;
      }
      if (key.applyAsLong(task) == number) {
        break;
      }
      slot = (slot + 1) & mask;
    }
    closeGap(table, mask, slot);
    sizes[segment]--;
    size--;
    if (table.length > SMALLEST && sizes[segment] == 0) {
      segments[segment] = null;
    }
  }

  /** Moves back those that had been pushed past the emptied slot, so that no search ends early. */
  private void closeGap(@Nullable Task[] table, int mask, int emptied) {
    int gap = emptied;
    int slot = emptied;
    while (true) {
      slot = (slot + 1) & mask;
      Task task = table[slot];
      if (task == null) {
        break;
      }
      int home = slotOf(hash(key.applyAsLong(task)), mask);
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        table[gap] = task;
        gap = slot;
      }
    }
    table[gap] = null;
  }
}

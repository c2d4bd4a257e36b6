package io.millrace.store.kernel;

import io.millrace.store.Task;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A part of a {@link TaskIndex}: a table with linear probing. Beside each task stands its tag, 32
 * bits of its number's hash, so that a search looks at no task but the one it finds: the others lie
 * anywhere in memory.
 */
final class IndexSegment {
  /** The tag of an empty slot; a task with this tag is given another. */
  private static final int EMPTY = 0;

  private static final int SMALLEST_BITS = 2;

  private int[] tags = new int[1 << SMALLEST_BITS];
  private @Nullable Task[] tasks = new Task[1 << SMALLEST_BITS];
  private int size;

  /** Slots are numbered by the highest bits of tags: what is left of them after this shift. */
  private int shift = Integer.SIZE - SMALLEST_BITS;

  private static int nonEmpty(int tag) {
    return tag == EMPTY ? 1 : tag;
  }

  private int following(int slot) {
    return (slot + 1) & (tags.length - 1);
  }

  /** The slot of the task with this number, or -1. */
  private int find(int tag, long number, ToLongFunction<Task> key) {
    for (int slot = tag >>> shift; ; slot = following(slot)) {
      int found = tags[slot];
      if (found == EMPTY) {
        return -1;
      }
      if (found == tag) {
        Task task = tasks[slot];
        if (task != null && key.applyAsLong(task) == number) {
          return slot;
        }
      }
    }
  }

  @Nullable Task get(int tag, long number, ToLongFunction<Task> key) {
    int slot = find(nonEmpty(tag), number, key);
    return slot < 0 ? null : tasks[slot];
  }

  /** Adds a task that is not there. */
  void put(int tag, Task task) {
    if ((size + 1) * 4 > tags.length * 3) {
      grow();
    }
    place(nonEmpty(tag), task);
    size++;
  }

  private void place(int tag, Task task) {
    int slot = tag >>> shift;
    while (tags[slot] != EMPTY) {
      slot = following(slot);
    }
    tags[slot] = tag;
    tasks[slot] = task;
  }

  private void grow() {
    int[] formerTags = tags;
    @Nullable Task[] former = tasks;
    tags = new int[formerTags.length * 2];
    tasks = new Task[former.length * 2];
    shift--;
    for (int slot = 0; slot < former.length; slot++) {
      Task task = former[slot];
      if (task != null) {
        place(formerTags[slot], task);
      }
    }
  }

  /** Removes the task with this number; gives it, or null where there is none. */
  @Nullable Task remove(int tag, long number, ToLongFunction<Task> key) {
    int slot = find(nonEmpty(tag), number, key);
    if (slot < 0) {
      return null;
    }
    Task removed = tasks[slot];
    closeGap(slot);
    size--;
    if (size == 0 && tags.length > 1 << SMALLEST_BITS) {
      reset();
    }
    return removed;
  }

  /** Gives the room of a table back that is empty. */
  private void reset() {
    tags = new int[1 << SMALLEST_BITS];
    tasks = new Task[1 << SMALLEST_BITS];
    shift = Integer.SIZE - SMALLEST_BITS;
  }

  /** Moves back those that had been pushed past the emptied slot, so that no search ends early. */
  private void closeGap(int emptied) {
    int mask = tags.length - 1;
    int gap = emptied;
    for (int slot = following(gap); tags[slot] != EMPTY; slot = following(slot)) {
      int home = tags[slot] >>> shift;
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        tags[gap] = tags[slot];
        tasks[gap] = tasks[slot];
        gap = slot;
      }
    }
    tags[gap] = EMPTY;
    tasks[gap] = null;
  }
}

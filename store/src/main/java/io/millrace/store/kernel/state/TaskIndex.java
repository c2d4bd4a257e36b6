package io.millrace.store.kernel.state;

import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import java.util.Objects;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** All tasks, found by id or origin. */
final class TaskIndex {
  private final Table byId = new Table(Task::id);

  /** Only tasks whose id is not their origin: the others are found by id. */
  private final Table byOrigin = new Table(Task::origin);

  int size() {
    return byId.size();
  }

  @Nullable Task find(TaskRef ref) {
    if (ref.id() != 0) {
      Task task = byId.get(ref.id());
      return task == null || ref.origin() == 0 || task.origin() == ref.origin() ? task : null;
    }
    Task task = byId.get(ref.origin());
    return task != null && task.origin() == ref.origin() ? task : byOrigin.get(ref.origin());
  }

  void put(Task task) {
    byId.put(task);
    if (task.id() != task.origin()) {
      byOrigin.put(task);
    }
  }

  /** Removes the task with this id, which must exist. */
  Task remove(long id) {
    Task task = Objects.requireNonNull(byId.remove(id));
    if (task.id() != task.origin()) {
      byOrigin.remove(task.origin());
    }
    return task;
  }

  /**
   * Tasks by a number: a hash table in many small segments, each of which grows separately, so that
   * growing never takes longer than copying a few thousand references.
   */
  static final class Table {
    private static final int SEGMENT_BITS = 12;

    private final ToLongFunction<Task> key;
    private final @Nullable Segment[] segments = new Segment[1 << SEGMENT_BITS];
    private int size;

    Table(ToLongFunction<Task> key) {
      this.key = key;
    }

    int size() {
      return size;
    }

    /** A hash whose highest bits spread increasing numbers well, for any step between them. */
    private static long hash(long number) {
      return number * 0x9E3779B97F4A7C15L;
    }

    private static int segmentOf(long hash) {
      return (int) (hash >>> (64 - SEGMENT_BITS));
    }

    /** The 32 bits of the hash after those that select the segment. */
    private static int tagOf(long hash) {
      return (int) (hash >>> (32 - SEGMENT_BITS));
    }

    @Nullable Task get(long number) {
      long hash = hash(number);
      Segment segment = segments[segmentOf(hash)];
      return segment == null ? null : segment.get(tagOf(hash), number, key);
    }

    /** Adds a task whose number is not in the table. */
    void put(Task task) {
      long hash = hash(key.applyAsLong(task));
      int at = segmentOf(hash);
      Segment segment = segments[at];
      if (segment == null) {
        segment = new Segment();
        segments[at] = segment;
      }
      segment.put(tagOf(hash), task);
      size++;
    }

    /** Removes the task with this number; returns it, or null if there is none. */
    @Nullable Task remove(long number) {
      long hash = hash(number);
      Segment segment = segments[segmentOf(hash)];
      Task removed = segment == null ? null : segment.remove(tagOf(hash), number, key);
      if (removed != null) {
        size--;
      }
      return removed;
    }
  }

  /**
   * A part of a {@link Table}: a hash table with linear probing. With each task it keeps a tag, 32
   * bits of the hash of its number, so that a search accesses only the task that it finds; the
   * others lie anywhere in memory.
   */
  private static final class Segment {
    /** The tag of an empty slot; a task with this tag gets another one. */
    private static final int EMPTY = 0;

    private static final int SMALLEST_BITS = 2;

    private int[] tags = new int[1 << SMALLEST_BITS];
    private @Nullable Task[] tasks = new Task[1 << SMALLEST_BITS];
    private int size;

    /** The slot of a tag is given by its highest bits: those left after this shift. */
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

    /** Adds a task that is not in the table. */
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

    /** Removes the task with this number; returns it, or null if there is none. */
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

    /** Releases the memory of an empty table. */
    private void reset() {
      tags = new int[1 << SMALLEST_BITS];
      tasks = new Task[1 << SMALLEST_BITS];
      shift = Integer.SIZE - SMALLEST_BITS;
    }

    /** Moves back entries after the emptied slot, so that no search for them ends early. */
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
}

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

  private final ToLongFunction<Task> key;
  private final @Nullable IndexSegment[] segments = new IndexSegment[1 << SEGMENT_BITS];
  private int size;

  TaskIndex(ToLongFunction<Task> key) {
    this.key = key;
  }

  int size() {
    return size;
  }

  /** Numbers that grow by any step are spread best over the highest bits. */
  private static long hash(long number) {
    return number * 0x9E3779B97F4A7C15L;
  }

  private static int segmentOf(long hash) {
    return (int) (hash >>> (64 - SEGMENT_BITS));
  }

  /** The 32 bits below those that chose the segment. */
  private static int tagOf(long hash) {
    return (int) (hash >>> (32 - SEGMENT_BITS));
  }

  @Nullable Task get(long number) {
    long hash = hash(number);
    IndexSegment segment = segments[segmentOf(hash)];
    return segment == null ? null : segment.get(tagOf(hash), number, key);
  }

  /** Adds a task whose number is not in use. */
  void put(Task task) {
    long hash = hash(key.applyAsLong(task));
    int at = segmentOf(hash);
    IndexSegment segment = segments[at];
    if (segment == null) {
      segment = new IndexSegment();
      segments[at] = segment;
    }
    segment.put(tagOf(hash), task);
    size++;
  }

  /** Removes the task with this number; gives it, or null where there is none. */
  @Nullable Task remove(long number) {
    long hash = hash(number);
    IndexSegment segment = segments[segmentOf(hash)];
    Task removed = segment == null ? null : segment.remove(tagOf(hash), number, key);
    if (removed != null) {
      size--;
    }
    return removed;
  }
}

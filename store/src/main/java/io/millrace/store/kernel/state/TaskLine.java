package io.millrace.store.kernel.state;

import io.millrace.store.Task;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The waiting tasks of one key and priority, in order of available time and then origin. A few are
 * in an array, since most keys have few, and many in a tree.
 */
final class TaskLine {
  /** The most tasks of the array. */
  private static final int FEW = 64;

  /** The lane of these tasks, so that all of them share it. */
  final Task.Lane lane;

  private @Nullable Task[] few = new Task[2];
  private int from;
  private int size;

  /** All tasks once there are more than a few, until there is none; null otherwise. */
  private @Nullable OrderedTree<Task> many;

  TaskLine(Task.Lane lane) {
    this.lane = lane;
  }

  int size() {
    return many == null ? size : many.size();
  }

  /** The task with this rank, from 0 to size - 1. */
  Task at(int rank) {
    return many == null ? few(rank) : many.select(rank);
  }

  /** Adds a task that is not in the line. */
  void add(Task task) {
    if (many == null && size == FEW) {
      many = new OrderedTree<>(Group.BY_TIME, Group.NO_KEYS, new CopyGeneration());
      for (int i = 0; i < size; i++) {
        many.insert(few(i));
      }
      few = new Task[2];
      from = 0;
      size = 0;
    }
    if (many != null) {
      many.insert(task);
      return;
    }
    makeRoom();
    int rank = size;
    while (rank > 0 && Group.BY_TIME.compare(few(rank - 1), task) > 0) {
      few[from + rank] = few[from + rank - 1];
      rank--;
    }
    few[from + rank] = task;
    size++;
  }

  private Task few(int rank) {
    return Objects.requireNonNull(few[from + rank]);
  }

  /** Makes room for one more task at the end of the array. */
  private void makeRoom() {
    if (from + size < few.length) {
      return;
    }
    @Nullable Task[] target = 2 * size <= few.length ? few : new Task[Math.min(FEW, 2 * size)];
    System.arraycopy(few, from, target, 0, size);
    Arrays.fill(target, size, target.length, null);
    few = target;
    from = 0;
  }

  /** Removes a task of the line. */
  void remove(Task task) {
    if (many != null) {
      many.remove(task);
      if (many.isEmpty()) {
        many = null;
      }
      return;
    }
    int rank = 0;
    while (rank < size && Group.BY_TIME.compare(few(rank), task) != 0) {
      rank++;
    }
    if (rank == size) {
      return;
    }
    if (rank == 0) {
      few[from++] = null;
    } else {
      System.arraycopy(few, from + rank + 1, few, from + rank, size - rank - 1);
      few[from + size - 1] = null;
    }
    size--;
  }
}

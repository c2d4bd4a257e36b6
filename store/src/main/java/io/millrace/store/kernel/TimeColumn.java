package io.millrace.store.kernel;

import io.millrace.store.Task;

/**
 * A column of (available time, origin). It keeps numbers, since the tasks of a large group lie
 * anywhere in memory and a search should not have to look at them.
 */
final class TimeColumn extends KeyColumn<Task> {
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

package io.millrace.jobs;

/**
 * Jobs of one type that were submitted one after the other.
 *
 * @param id its number, from 1, over all types
 * @param type the type of its jobs; empty on a server without types
 * @param size how many jobs were put into it; deleting one does not change this
 * @param capacity how many it takes: once full it is stable
 */
public record Batch(long id, String type, int size, int capacity) {
  /** Whether a batch may have this number. */
  public static boolean isNumber(long id) {
    return id >= 1 && id < 1L << 53;
  }

  /** Whether no job will ever be added. */
  public boolean isFull() {
    return size >= capacity;
  }
}

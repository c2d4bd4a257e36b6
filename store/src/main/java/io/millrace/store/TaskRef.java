package io.millrace.store;

/**
 * How a read or a transaction names a task: by id, by origin, or by both.
 *
 * @param id the expected id, or 0 for "whatever id it has now"
 * @param origin the first id it had, or 0 where only the id is known
 */
public record TaskRef(long id, long origin) {
  /** Rejects a reference that names nothing. */
  public TaskRef {
    if (id < 0 || origin < 0 || (id == 0 && origin == 0)) {
      throw new IllegalArgumentException("a task is named by a positive id or origin");
    }
  }

  /** The task with this id, unchanged since. */
  public static TaskRef id(long id) {
    return new TaskRef(id, 0);
  }

  /** The task that began with this id, however often it has changed since. */
  public static TaskRef origin(long origin) {
    return new TaskRef(0, origin);
  }

  @Override
  public String toString() {
    if (origin == 0) {
      return "task " + id;
    }
    return id == 0 ? "task of origin " + origin : "task " + id + " of origin " + origin;
  }
}

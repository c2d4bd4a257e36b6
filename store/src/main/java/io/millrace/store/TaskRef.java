package io.millrace.store;

/**
 * How a read or a transaction names a task: by id, by origin, or by both.
 *
 * @param id the expected id, or 0 for "whatever id it has now"
 * @param origin the first id it had, or 0 if only the id is known
 */
public record TaskRef(long id, long origin) {
  /**
   * The task with this id, unchanged since.
   *
   * @throws IllegalArgumentException when the id is below 1
   */
  public static TaskRef id(long id) {
    return new TaskRef(id, 0).required();
  }

  /**
   * The task that began with this id, however often it has changed since.
   *
   * @throws IllegalArgumentException when the origin is below 1
   */
  public static TaskRef origin(long origin) {
    return new TaskRef(0, origin).required();
  }

  /**
   * Whether a task can have this id and origin. A transaction or claim with a reference that names
   * no task is refused as malformed, together with all else that is wrong with it.
   */
  public boolean namesTask() {
    return id >= 0 && origin >= 0 && (id | origin) != 0;
  }

  /**
   * This reference, for uses that cannot do without a task.
   *
   * @throws IllegalArgumentException when it names no task
   */
  public TaskRef required() {
    if (!namesTask()) {
      throw new IllegalArgumentException("a task is named by a positive id or origin");
    }
    return this;
  }

  @Override
  public String toString() {
    if (origin == 0) {
      return "task " + id;
    }
    return id == 0 ? "task of origin " + origin : "task " + id + " of origin " + origin;
  }
}

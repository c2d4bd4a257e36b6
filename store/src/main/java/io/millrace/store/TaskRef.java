package io.millrace.store;

/**
 * A reference to a task: by id, by origin, or by both.
 *
 * @param id the expected id; 0 for any
 * @param origin the first id of the task; 0 for any
 */
public record TaskRef(long id, long origin) {
  /**
   * The task with this id. It does not resolve any more once the task has changed.
   *
   * @throws IllegalArgumentException if the id is below 1
   */
  public static TaskRef id(long id) {
    return new TaskRef(id, 0).required();
  }

  /**
   * The task whose first id was this one, with any current id.
   *
   * @throws IllegalArgumentException if the origin is below 1
   */
  public static TaskRef origin(long origin) {
    return new TaskRef(0, origin).required();
  }

  /**
   * Whether a task can have this id and origin. If not, a transaction or claim with this reference
   * is refused as malformed.
   */
  public boolean namesTask() {
    return id >= 0 && origin >= 0 && (id | origin) != 0;
  }

  /**
   * Returns this reference after a check.
   *
   * @throws IllegalArgumentException unless {@link #namesTask}
   */
  public TaskRef required() {
    if (!namesTask()) {
      throw new IllegalArgumentException("a reference to a task needs a positive id or origin");
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

package io.millrace.store;

/**
 * Which tasks of a group to list: those that wait, by (available time, origin); with {@code owned}
 * then the delayed and the claimed ones in the same order.
 *
 * @param group the group's name; an unknown one lists nothing
 * @param limit the most tasks to list, 0 for no limit
 * @param owned whether tasks that cannot be claimed now are listed too
 */
public record GroupQuery(String group, int limit, boolean owned) {
  /** All waiting tasks of a group. */
  public static GroupQuery waiting(String group) {
    return new GroupQuery(group, 0, false);
  }

  /** All tasks of a group. */
  public static GroupQuery all(String group) {
    return new GroupQuery(group, 0, true);
  }
}

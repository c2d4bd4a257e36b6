package io.millrace.graph.store;

import io.millrace.graph.NodeId;
import io.millrace.store.Bytes;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A permit of a node for one attempt: a task of the store with {@code ID ATTEMPT} as data.
 *
 * @param id the node
 * @param attempt the attempt for which it is
 * @param group the group of the task
 * @param lane the key and priority of the task; null for neither
 * @param origin the origin of the task; 0 if it is not in the store
 * @param claimed whether it counts against the limits
 */
record Permit(
    NodeId id,
    int attempt,
    PermitGroup group,
    Task.@Nullable Lane lane,
    long origin,
    boolean claimed) {
  private static final Pattern DATA = Pattern.compile("([1-9][0-9]{0,15}) ([1-9][0-9]{0,8})");

  /** The permit that a task is; null if it is none. */
  static @Nullable Permit read(Task task, PermitGroup group) {
    NodeId id = node(task);
    if (id == null) {
      return null;
    }
    String data = task.data().utf8();
    int attempt = Integer.parseInt(data.substring(data.indexOf(' ') + 1));
    return new Permit(id, attempt, group, task.lane(), task.origin(), task.heldByClaim());
  }

  /** The node whose permit a task is; null if it is no permit. */
  static @Nullable NodeId node(Task task) {
    Matcher data = DATA.matcher(task.data().utf8());
    return data.matches() ? NodeId.parse(data.group(1)).orElse(null) : null;
  }

  /** The data of its task. */
  Bytes data() {
    return Bytes.of(id + " " + attempt);
  }

  TaskRef task() {
    return TaskRef.origin(origin);
  }

  /** Its key; empty for none. */
  String key() {
    return lane == null ? "" : lane.key();
  }

  /** The same as the task of this origin, not claimed. */
  Permit at(long added) {
    return new Permit(id, attempt, group, lane, added, false);
  }

  /** The same, claimed or not. */
  Permit claimed(boolean now) {
    return new Permit(id, attempt, group, lane, origin, now);
  }

  /** Whether it is for this attempt under these limits. */
  boolean suits(Permit wanted) {
    return attempt == wanted.attempt
        && group.equals(wanted.group)
        && Objects.equals(lane, wanted.lane);
  }
}

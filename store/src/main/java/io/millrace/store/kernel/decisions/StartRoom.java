package io.millrace.store.kernel.decisions;

import io.millrace.store.Task;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.GroupLimits;
import io.millrace.store.kernel.state.GroupLimits.SharedLimit;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * How many more tasks may start under the limits of groups, their keys and shared names, while one
 * command is decided. What the command has taken so far counts, although the state has not changed.
 */
final class StartRoom {
  private final long nowMillis;

  /** What this command takes, by {@link GroupLimits}, {@link SharedLimit} or {@link Key}. */
  private Map<Object, Integer> taken = Map.of();

  StartRoom(long nowMillis) {
    this.nowMillis = nowMillis;
  }

  /** A key and the limits by which it is limited. */
  private record Key(GroupLimits limits, String key) {}

  private int left(Object limit, int room) {
    return taken.isEmpty() ? room : room - taken.getOrDefault(limit, 0);
  }

  /** How many more tasks of a group may start, apart from the limits of its keys. */
  int of(Group group) {
    GroupLimits limits = group.limits();
    if (limits == null) {
      return Integer.MAX_VALUE;
    }
    int room = left(limits, limits.roomOfGroups(nowMillis));
    for (SharedLimit shared : limits.shared()) {
      room = Math.min(room, left(shared, shared.room(nowMillis)));
    }
    return room;
  }

  /** How many tasks of each key count that this command takes; null for none. */
  @Nullable ToIntFunction<String> takenOfKeys(Group group) {
    GroupLimits limits = group.limits();
    return limits == null || taken.isEmpty()
        ? null
        : key -> taken.getOrDefault(new Key(limits, key), 0);
  }

  /** Counts a task of a group that is taken, for those that the command takes after it. */
  void take(Task task, Group group) {
    GroupLimits limits = group.limits();
    if (limits == null) {
      return;
    }
    if (taken.isEmpty()) {
      taken = new HashMap<>();
    }
    taken.merge(limits, 1, Integer::sum);
    if (!task.key().isEmpty()) {
      taken.merge(new Key(limits, task.key()), 1, Integer::sum);
    }
    for (SharedLimit shared : limits.shared()) {
      taken.merge(shared, 1, Integer::sum);
    }
  }

  /** The limit that keeps a waiting task of a group from starting, for people; null for none. */
  @Nullable String reached(Task task, Group group) {
    GroupLimits limits = group.limits();
    if (limits == null) {
      return null;
    }
    if (left(limits, limits.roomOfGroups(nowMillis)) <= 0) {
      return "the limit of " + limits;
    }
    if (!task.key().isEmpty()) {
      Key key = new Key(limits, task.key());
      if (left(key, group.roomOfKey(task.key(), nowMillis)) <= 0) {
        return "the limit of key " + task.key() + " in " + limits;
      }
    }
    for (SharedLimit shared : limits.shared()) {
      if (left(shared, shared.room(nowMillis)) <= 0) {
        return shared.toString();
      }
    }
    return null;
  }
}

package io.millrace.store.kernel.decisions;

import io.millrace.store.Task;
import io.millrace.store.Throttling;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.State;
import io.millrace.store.kernel.state.Throttles;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many more tasks may start under the limits of groups, their keys and shared names, while one
 * command is decided. What the command has taken so far counts, although the state has not changed.
 */
final class StartRoom {
  private final State state;
  private final Throttles throttles;
  private final long nowMillis;

  /** What this command takes, by limit. */
  private Map<Limited, Integer> taken = Map.of();

  StartRoom(State state, long nowMillis) {
    this.state = state;
    this.throttles = state.throttles();
    this.nowMillis = nowMillis;
  }

  /** What a limit is about; one of the parts is a name, and the others are null. */
  private record Limited(@Nullable String group, @Nullable String key, @Nullable String shared) {}

  private int left(Limited limited, int room) {
    return room - taken.getOrDefault(limited, 0);
  }

  /** How many more tasks of a group may start, apart from the limits of its keys. */
  int of(Group group) {
    if (throttles.isEmpty()) {
      return Integer.MAX_VALUE;
    }
    int room = left(new Limited(group.name(), null, null), throttles.roomOfGroup(group, nowMillis));
    for (String name : throttles.of(group.name()).shared()) {
      room = Math.min(room, left(shared(name), throttles.roomOfShared(name, nowMillis)));
    }
    return room;
  }

  private static Limited shared(String name) {
    return new Limited(null, null, name);
  }

  /** Counts a task that is taken. */
  void take(Task task) {
    if (throttles.isEmpty()) {
      return;
    }
    if (taken.isEmpty()) {
      taken = new HashMap<>();
    }
    taken.merge(new Limited(task.group(), null, null), 1, Integer::sum);
    if (!task.key().isEmpty()) {
      taken.merge(new Limited(task.group(), task.key(), null), 1, Integer::sum);
    }
    for (String name : throttles.of(task.group()).shared()) {
      taken.merge(shared(name), 1, Integer::sum);
    }
  }

  /** The limit that keeps a waiting task from starting, for people; null if there is none. */
  @Nullable String reached(Task task) {
    Group group = throttles.isEmpty() ? null : state.group(task.group());
    if (group == null) {
      return null;
    }
    Throttling limits = throttles.of(task.group());
    if (left(new Limited(task.group(), null, null), throttles.roomOfGroup(group, nowMillis)) <= 0) {
      return "the limit of group " + task.group();
    }
    if (!task.key().isEmpty()) {
      Limited key = new Limited(task.group(), task.key(), null);
      if (left(key, group.roomOfKey(task.key(), nowMillis)) <= 0) {
        return "the limit of key " + task.key() + " in group " + task.group();
      }
    }
    for (String name : limits.shared()) {
      if (left(shared(name), throttles.roomOfShared(name, nowMillis)) <= 0) {
        return "the shared limit " + name;
      }
    }
    return null;
  }
}

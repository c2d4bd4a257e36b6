package io.millrace.store.kernel;

import java.util.Comparator;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** When which group has a delayed task or a lease whose time comes next. */
final class Alarms {
  private record Alarm(long timeMillis, String group) {}

  private final TreeSet<Alarm> alarms =
      new TreeSet<>(Comparator.comparingLong(Alarm::timeMillis).thenComparing(Alarm::group));

  /** Notes that a group's alarm may have changed from {@code before}. */
  void reset(Group group, long before) {
    long after = group.alarm();
    if (before != after) {
      if (before != Group.NO_ALARM) {
        alarms.remove(new Alarm(before, group.name()));
      }
      if (after != Group.NO_ALARM) {
        alarms.add(new Alarm(after, group.name()));
      }
    }
  }

  /** The group whose time came first of those whose time has come; null for none. */
  @Nullable String due(long nowMillis) {
    return earliest() <= nowMillis && !alarms.isEmpty() ? alarms.first().group() : null;
  }

  /** When the next one rings; {@link Long#MAX_VALUE} for never. */
  long earliest() {
    return alarms.isEmpty() ? Long.MAX_VALUE : alarms.first().timeMillis();
  }
}

package io.millrace.store.kernel.state;

import io.millrace.store.EmbeddedTaskStore.ReachedLimit;
import io.millrace.store.EmbeddedTaskStore.ReachedLimit.Scope;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The limits that one document sets, for a group or for all groups whose names begin with a prefix,
 * and how much of them is used.
 */
public final class GroupLimits {
  final String name;

  /** Whether {@link #name} is a prefix of groups, and not the name of one. */
  final boolean ofPrefix;

  final Throttling limits;
  private final List<SharedLimit> shared;

  /** The groups with tasks to which the limits apply. */
  final TreeSet<String> groups = new TreeSet<>();

  /** How many tasks of these groups are claimed. */
  int running;

  /** See {@link Limit#possible}. */
  long fullAtMicros;

  /** The keys of all groups of a prefix; empty for the limits of one group. */
  private final Map<String, SpanningKey> keys = new HashMap<>();

  GroupLimits(String name, boolean ofPrefix, Throttling limits, List<SharedLimit> shared) {
    this.name = name;
    this.ofPrefix = ofPrefix;
    this.limits = limits;
    this.shared = shared;
  }

  /** How many more tasks may start now, apart from the limits of keys and shared limits. */
  public int roomOfGroups(long nowMillis) {
    return room(limits.group(), running, fullAtMicros, nowMillis);
  }

  /** The shared limits that apply too. */
  public List<SharedLimit> shared() {
    return shared;
  }

  /** These limits, for counts of how often they were reached. */
  ReachedLimit reached() {
    return new ReachedLimit(ofPrefix ? Scope.PREFIX : Scope.GROUP, name);
  }

  /** The groups, for people. */
  @Override
  public String toString() {
    return ofPrefix ? "groups " + name + "*" : "group " + name;
  }

  static int room(Limit limit, int running, long fullAtMicros, long nowMillis) {
    int free = limit.running() == 0 ? Integer.MAX_VALUE : Math.max(0, limit.running() - running);
    return limit.starts() == 0 ? free : Math.min(free, limit.possible(fullAtMicros, nowMillis));
  }

  /** Has a key of one group of a prefix count together with those of the other groups. */
  SpanningKey join(Lanes.Key key, long fullAtMicros) {
    SpanningKey joined = keys.computeIfAbsent(key.name, _ -> new SpanningKey(fullAtMicros));
    joined.members.add(key);
    joined.running += key.running;
    return joined;
  }

  /** Undoes {@link #join}. */
  void leave(Lanes.Key key, SpanningKey joined) {
    joined.members.remove(key);
    joined.running -= key.running;
    if (joined.members.isEmpty()) {
      keys.remove(key.name);
    }
  }

  /** The use of the limits of a key that occurs in several groups. */
  static final class SpanningKey {
    /** The key in each group that knows it. */
    final List<Lanes.Key> members = new ArrayList<>(1);

    int running;
    long fullAtMicros;

    SpanningKey(long fullAtMicros) {
      this.fullAtMicros = fullAtMicros;
    }
  }

  /** A limit that any groups share by its name, and how much of it is used. */
  public static final class SharedLimit {
    final String name;
    Limit limit = Limit.NONE;
    final List<GroupLimits> members = new ArrayList<>(1);
    int running;
    long fullAtMicros;

    SharedLimit(String name) {
      this.name = name;
    }

    /** How many more tasks may start now. */
    public int room(long nowMillis) {
      return GroupLimits.room(limit, running, fullAtMicros, nowMillis);
    }

    /** The limit, for people. */
    @Override
    public String toString() {
      return "the shared limit " + name;
    }

    /** The groups with tasks to which it applies. */
    List<String> groups() {
      return members.stream().flatMap(member -> member.groups.stream()).toList();
    }
  }

  /** The limits of a group; those of nothing if there are none. */
  static Throttling of(@Nullable GroupLimits limits) {
    return limits == null ? Throttling.NONE : limits.limits;
  }
}

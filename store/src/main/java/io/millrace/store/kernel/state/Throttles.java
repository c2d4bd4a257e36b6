package io.millrace.store.kernel.state;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import io.millrace.store.kernel.records.JournalRecord.KeptStarts;
import io.millrace.store.kernel.records.JournalRecord.KeptStarts.Scope;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The limits in force, which documents set, and how much of them is used: how many tasks of shared
 * limits are claimed, and how many have started lately. See {@link Throttling}.
 *
 * <p>Only limits of starts need a memory of their own. It is kept in snapshots, and forgotten when
 * all starts are possible again, as later starts are recorded. All of this follows from commits
 * alone, so replay results in the same.
 */
public final class Throttles {
  /** How many forgotten starts are removed for each new one. */
  private static final int REMOVALS = 4;

  private static final Comparator<KeptStarts> BY_NAME =
      Comparator.comparing(KeptStarts::scope)
          .thenComparing(KeptStarts::name)
          .thenComparing(KeptStarts::key);

  private final Map<String, Throttling> groups = new HashMap<>();
  private final Map<String, Shared> shared = new HashMap<>();
  private final OrderedTree<KeptStarts> starts;
  private final TreeSet<KeptStarts> byEnd =
      new TreeSet<>(Comparator.comparingLong(KeptStarts::fullAtMicros).thenComparing(BY_NAME));
  private final TreeSet<Wakeup> wakeups =
      new TreeSet<>(
          Comparator.comparingLong(Wakeup::atMillis)
              .thenComparing(Wakeup::scope)
              .thenComparing(Wakeup::name)
              .thenComparing(Wakeup::key));

  Throttles(CopyGeneration generation) {
    starts = new OrderedTree<>(BY_NAME, generation);
  }

  /** A limit that several groups share. */
  private static final class Shared {
    Limit limit = Limit.NONE;
    final TreeSet<String> groups = new TreeSet<>();
    int running;
  }

  /**
   * A time at which tasks may start that a limit of starts has kept waiting.
   *
   * @param atMillis the store time
   * @param scope what the limit is about
   * @param name the group or shared limit
   * @param key the key; empty unless the limit is about a key
   */
  record Wakeup(long atMillis, Scope scope, String name, String key) {}

  /** Whether there are no limits at all. */
  public boolean isEmpty() {
    return groups.isEmpty();
  }

  /** The limits of a group; {@link Throttling#NONE} if there are none. */
  public Throttling of(String group) {
    return groups.getOrDefault(group, Throttling.NONE);
  }

  /** How many more tasks of a group may start now, apart from shared limits. */
  public int roomOfGroup(Group group, long nowMillis) {
    return room(
        of(group.name()).group(), group.claimedCount(), Scope.GROUP, group.name(), nowMillis);
  }

  /** How many more tasks may start now under a shared limit. */
  public int roomOfShared(String name, long nowMillis) {
    Shared found = shared.get(name);
    return found == null
        ? Integer.MAX_VALUE
        : room(found.limit, found.running, Scope.SHARED, name, nowMillis);
  }

  int roomOfKey(String group, String key, int running, long nowMillis) {
    Limit limit = of(group).key();
    int free = limit.running() == 0 ? Integer.MAX_VALUE : Math.max(0, limit.running() - running);
    return Math.min(free, limit.possible(fullAt(Scope.KEY, group, key), nowMillis));
  }

  private int room(Limit limit, int running, Scope scope, String name, long nowMillis) {
    int free = limit.running() == 0 ? Integer.MAX_VALUE : Math.max(0, limit.running() - running);
    return limit.starts() == 0
        ? free
        : Math.min(free, limit.possible(fullAt(scope, name, ""), nowMillis));
  }

  private long fullAt(Scope scope, String name, String key) {
    KeptStarts found = starts.isEmpty() ? null : starts.find(new KeptStarts(scope, name, key, 0));
    return found == null ? 0 : found.fullAtMicros();
  }

  /** Whether a document sets limits. */
  static boolean areIn(DocumentKey key) {
    return Throttling.isOfGroup(key) || Throttling.isShared(key);
  }

  /**
   * Sets or removes the limits of a document.
   *
   * @param document the document; null if it was removed
   * @param running how many tasks of the group are claimed; not used for a shared limit
   * @return the groups whose tasks may start now and could not before
   */
  List<String> set(DocumentKey key, @Nullable Document document, int running, long nowMillis) {
    Throttling next = document == null ? Throttling.NONE : read(document);
    if (Throttling.isShared(key)) {
      Shared changed = shared.computeIfAbsent(key.key(), _ -> new Shared());
      changed.limit = next.group();
      wake(Scope.SHARED, key.key(), "", changed.limit, nowMillis);
      return List.copyOf(changed.groups);
    }
    String group = key.key();
    Set<String> freed = new LinkedHashSet<>(List.of(group));
    for (String name : of(group).shared()) {
      Shared left = shared.computeIfAbsent(name, _ -> new Shared());
      left.groups.remove(group);
      left.running -= running;
      freed.addAll(left.groups);
    }
    if (document == null) {
      groups.remove(group);
    } else {
      groups.put(group, next);
    }
    for (String name : next.shared()) {
      Shared joined = shared.computeIfAbsent(name, _ -> new Shared());
      joined.groups.add(group);
      joined.running += running;
    }
    wake(Scope.GROUP, group, "", next.group(), nowMillis);
    return List.copyOf(freed);
  }

  /** Reads limits; a document that an older version wrote for another purpose limits nothing. */
  private static Throttling read(Document document) {
    try {
      return Throttling.read(document.key(), document.body());
    } catch (IllegalArgumentException _) {
      return Throttling.NONE;
    }
  }

  /**
   * Changes the number of claimed tasks of a group.
   *
   * @return the other groups whose tasks may start now and could not before
   */
  List<String> count(String group, int by) {
    if (groups.isEmpty() || by == 0) {
      return List.of();
    }
    List<String> freed = List.of();
    for (String name : of(group).shared()) {
      Shared limit = shared.get(name);
      if (limit != null) {
        limit.running += by;
        if (by < 0 && limit.limit.running() > 0) {
          freed = new ArrayList<>(freed);
          freed.addAll(limit.groups);
        }
      }
    }
    return freed;
  }

  /** Records that a task has started. */
  void started(Task task, long nowMillis) {
    if (groups.isEmpty()) {
      return;
    }
    Throttling limits = of(task.group());
    started(limits.group(), Scope.GROUP, task.group(), "", nowMillis);
    if (!task.key().isEmpty()) {
      started(limits.key(), Scope.KEY, task.group(), task.key(), nowMillis);
    }
    for (String name : limits.shared()) {
      Shared found = shared.get(name);
      if (found != null) {
        started(found.limit, Scope.SHARED, name, "", nowMillis);
      }
    }
  }

  private void started(Limit limit, Scope scope, String name, String key, long nowMillis) {
    if (limit.starts() == 0) {
      return;
    }
    KeptStarts before = starts.find(new KeptStarts(scope, name, key, 0));
    long fullAt = limit.afterStart(before == null ? 0 : before.fullAtMicros(), nowMillis);
    if (before != null) {
      starts.remove(before);
      byEnd.remove(before);
    }
    KeptStarts now = new KeptStarts(scope, name, key, fullAt);
    starts.insert(now);
    byEnd.add(now);
    for (int i = 0; i < REMOVALS && byEnd.first().fullAtMicros() <= nowMillis * 1_000; i++) {
      starts.remove(byEnd.removeFirst());
    }
    if (scope != Scope.KEY) {
      wake(scope, name, key, limit, nowMillis);
    }
  }

  /** Notes when a task of a key may start, unless it is kept waiting by other tasks of the key. */
  void wakeForKey(String group, String key, long nowMillis) {
    wake(Scope.KEY, group, key, of(group).key(), nowMillis);
  }

  private void wake(Scope scope, String name, String key, Limit limit, long nowMillis) {
    if (limit.starts() > 0) {
      long at = limit.possibleAtMillis(fullAt(scope, name, key));
      if (at > nowMillis) {
        wakeups.add(new Wakeup(at, scope, name, key));
      }
    }
  }

  /** Adds what a snapshot says of starts; its documents have been added before. */
  void restore(KeptStarts kept, long nowMillis) {
    starts.replace(kept);
    byEnd.add(kept);
    Shared found = kept.scope() == Scope.SHARED ? shared.get(kept.name()) : null;
    Limit limit = found != null ? found.limit : of(kept.name()).group();
    if (kept.scope() != Scope.KEY) {
      wake(kept.scope(), kept.name(), kept.key(), limit, nowMillis);
    }
  }

  /** When {@link #due} has something next. */
  long nextDueMillis() {
    return wakeups.isEmpty() ? Long.MAX_VALUE : wakeups.first().atMillis();
  }

  /** Removes and returns the next wake-up that is due; null if there is none. */
  @Nullable Wakeup due(long nowMillis) {
    return nextDueMillis() <= nowMillis ? wakeups.removeFirst() : null;
  }

  /** The groups whose tasks a wake-up is about. */
  List<String> groups(Wakeup wakeup) {
    Shared found = wakeup.scope() == Scope.SHARED ? shared.get(wakeup.name()) : null;
    return found == null ? List.of(wakeup.name()) : List.copyOf(found.groups);
  }

  /** The estimated memory in bytes. */
  long memoryBytes() {
    return (long) Sizes.STARTS * starts.size();
  }

  /** What has started lately, for a snapshot. */
  FrozenTree<KeptStarts> freeze() {
    return starts.freeze();
  }
}

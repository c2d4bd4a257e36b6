package io.millrace.work;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * When delayed tasks can be claimed, for an activity that is not told when that happens. It keeps
 * up to 1,000 times for each key and says for which key more have to be asked for. Times are in
 * nanoseconds of a clock that never goes back. For use by one thread.
 *
 * @param <K> what the tasks are for, for example a queue
 */
public final class DueTimes<K> {
  /** The most times of a key that are kept. */
  public static final int MOST = 1_000;

  /** Times that are closer together are one, and all are rounded up to it. */
  private static final long TOGETHER_NANOS = 10_000_000;

  private final Map<K, TreeSet<Long>> times = new HashMap<>();

  /** Keys that may have more times than are kept. */
  private final Set<K> partly = new HashSet<>();

  private final Set<K> unread = new HashSet<>();

  /** A task of this key can be claimed after this delay. */
  public void add(K key, Duration delay, long nowNanos) {
    long at = nowNanos + Math.max(0, delay.toNanos()) + TOGETHER_NANOS;
    TreeSet<Long> all = times.computeIfAbsent(key, _ -> new TreeSet<>());
    all.add(at - Math.floorMod(at, TOGETHER_NANOS) + TOGETHER_NANOS);
    if (all.size() > MOST) {
      all.removeLast();
      partly.add(key);
    }
  }

  /** As {@link #add} for each of these delays, as {@link DelayedTasks} has read them. */
  public void expect(K key, DelayedTasks.Delays delays, long nowNanos) {
    delays.delays().forEach(delay -> add(key, delay, nowNanos));
    if (delays.areMore()) {
      partly.add(key);
    }
  }

  /** The keys of which tasks can be claimed now, and could not at the last call. */
  public List<K> due(long nowNanos) {
    List<K> due = new ArrayList<>();
    for (Iterator<Map.Entry<K, TreeSet<Long>>> each = times.entrySet().iterator();
        each.hasNext(); ) {
      Map.Entry<K, TreeSet<Long>> entry = each.next();
      TreeSet<Long> all = entry.getValue();
      if (all.first() <= nowNanos) {
        all.headSet(nowNanos, true).clear();
        due.add(entry.getKey());
        if (all.isEmpty()) {
          each.remove();
          if (partly.remove(entry.getKey())) {
            unread.add(entry.getKey());
          }
        }
      }
    }
    return due;
  }

  /** How long {@link #due} has nothing to say; the largest number if it has nothing at all. */
  public long waitNanos(long nowNanos) {
    long first = Long.MAX_VALUE;
    for (TreeSet<Long> each : times.values()) {
      first = Math.min(first, Math.max(0, each.first() - nowNanos));
    }
    return first;
  }

  /** The keys of which {@link DelayedTasks} has to be asked now, each given once. */
  public Set<K> takeUnread() {
    Set<K> taken = Set.copyOf(unread);
    unread.clear();
    return taken;
  }
}

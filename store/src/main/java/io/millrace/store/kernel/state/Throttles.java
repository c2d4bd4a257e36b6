package io.millrace.store.kernel.state;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import io.millrace.store.kernel.records.JournalRecord.KeptStarts;
import io.millrace.store.kernel.records.JournalRecord.KeptStarts.Scope;
import io.millrace.store.kernel.state.GroupLimits.SharedLimit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The limits in force, which documents set, and how many tasks have started lately. See {@link
 * Throttling}.
 *
 * <p>Only limits of starts need a memory of their own. It is kept in snapshots, and forgotten when
 * all starts are possible again, as later starts are recorded. All of this follows from commits
 * alone, so replay results in the same.
 */
final class Throttles {
  /** How many forgotten starts are removed for each new one. */
  private static final int REMOVALS = 4;

  /** By {@link #hash} and then names. A lambda, which unlike shared comparators is inlined. */
  private static final Comparator<KeptStarts> BY_NAME =
      (one, other) -> {
        int byHash = Long.compare(hash(one), hash(other));
        if (byHash != 0) {
          return byHash;
        }
        int byScope = one.scope().compareTo(other.scope());
        int byName = byScope != 0 ? byScope : one.name().compareTo(other.name());
        return byName != 0 ? byName : one.key().compareTo(other.key());
      };

  private final Map<String, GroupLimits> ofGroups = new HashMap<>();
  private final TreeMap<String, GroupLimits> ofPrefixes = new TreeMap<>();
  private final Map<String, SharedLimit> shared = new HashMap<>();
  private final OrderedTree<KeptStarts> starts;

  /**
   * What is in {@link #starts} by its end, each once. Of starts that were recorded again, it has
   * the first record until that has ended.
   */
  private final PriorityQueue<KeptStarts> byEnd =
      new PriorityQueue<>(
          Comparator.comparingLong(KeptStarts::fullAtMicros).thenComparing(BY_NAME));

  private final TreeSet<Wakeup> wakeups =
      new TreeSet<>(
          Comparator.comparingLong(Wakeup::atMillis)
              .thenComparing(Wakeup::scope)
              .thenComparing(Wakeup::name)
              .thenComparing(Wakeup::key));

  Throttles(CopyGeneration generation) {
    starts = new OrderedTree<>(BY_NAME, new HashColumn(0), generation);
  }

  /** A number by which starts are found: comparing it is faster than comparing names. */
  private static long hash(KeptStarts kept) {
    return (long) kept.key().hashCode() << Integer.SIZE
        | Integer.toUnsignedLong(31 * kept.name().hashCode() + number(kept.scope()));
  }

  private static int number(Scope scope) {
    return switch (scope) {
      case GROUP -> 0;
      case KEY -> 1;
      case SHARED -> 2;
      case PREFIX -> 3;
      case PREFIX_KEY -> 4;
    };
  }

  /**
   * A time at which tasks may start that a limit of starts has kept waiting.
   *
   * @param atMillis the store time
   * @param scope what the limit is about
   * @param name the group, prefix or shared limit
   * @param key the key; empty unless the limit is about a key
   */
  record Wakeup(long atMillis, Scope scope, String name, String key) {}

  /** The limits of a group of this name: its own, or those of the longest prefix that has any. */
  @Nullable GroupLimits of(String group) {
    GroupLimits own = ofGroups.get(group);
    return own != null || ofPrefixes.isEmpty() ? own : ofPrefixOf(group);
  }

  private @Nullable GroupLimits ofPrefixOf(String group) {
    String below = group;
    for (Map.Entry<String, GroupLimits> entry = ofPrefixes.floorEntry(below);
        entry != null;
        entry = ofPrefixes.floorEntry(below)) {
      if (group.startsWith(entry.getKey())) {
        return entry.getValue();
      }
      // A prefix of the group that is smaller than this entry is a prefix of the entry as well.
      below = commonPrefix(group, entry.getKey());
    }
    return null;
  }

  private static String commonPrefix(String one, String other) {
    int length = 0;
    while (length < Math.min(one.length(), other.length())
        && one.charAt(length) == other.charAt(length)) {
      length++;
    }
    return one.substring(0, length);
  }

  private long fullAt(Limit limit, Scope scope, String name, String key) {
    KeptStarts found =
        limit.starts() == 0 || starts.isEmpty()
            ? null
            : starts.find(new KeptStarts(scope, name, key, 0));
    return found == null ? 0 : found.fullAtMicros();
  }

  /** When all starts of a key are possible again; see {@link Limit#possible}. */
  long fullAtOfKey(GroupLimits limits, String key) {
    return fullAt(limits.limits.key(), keyScope(limits), limits.name, key);
  }

  private static Scope keyScope(GroupLimits limits) {
    return limits.ofPrefix ? Scope.PREFIX_KEY : Scope.KEY;
  }

  private static Scope scope(GroupLimits limits) {
    return limits.ofPrefix ? Scope.PREFIX : Scope.GROUP;
  }

  /**
   * Sets or removes a shared limit.
   *
   * @param document the document; null if it was removed
   * @return the groups whose tasks may start now and could not before
   */
  List<String> setShared(String name, @Nullable Document document, long nowMillis) {
    SharedLimit changed = shared(name);
    changed.limit = read(document).group();
    changed.fullAtMicros = fullAt(changed.limit, Scope.SHARED, name, "");
    wake(Scope.SHARED, name, "", changed.limit, changed.fullAtMicros, nowMillis);
    return changed.groups();
  }

  private SharedLimit shared(String name) {
    return shared.computeIfAbsent(name, SharedLimit::new);
  }

  /**
   * Sets or removes the limits of a group or prefix, to which no group is bound at the moment.
   *
   * @param document the document; null if it was removed
   * @return other groups whose tasks may start now and could not before
   */
  List<String> set(DocumentKey key, @Nullable Document document, long nowMillis) {
    boolean ofPrefix = Throttling.isOfPrefix(key);
    Map<String, GroupLimits> all = ofPrefix ? ofPrefixes : ofGroups;
    List<String> freed = new ArrayList<>();
    GroupLimits old = all.remove(key.key());
    if (old != null) {
      for (SharedLimit left : old.shared()) {
        left.members.remove(old);
        freed.addAll(left.groups());
      }
    }
    if (document != null) {
      Throttling limits = read(document);
      List<SharedLimit> joined = limits.shared().stream().map(this::shared).toList();
      GroupLimits next = new GroupLimits(key.key(), ofPrefix, limits, joined);
      joined.forEach(each -> each.members.add(next));
      next.fullAtMicros = fullAt(limits.group(), scope(next), next.name, "");
      all.put(key.key(), next);
      wake(scope(next), next.name, "", limits.group(), next.fullAtMicros, nowMillis);
    }
    return freed;
  }

  /** Reads limits; a document that an older version wrote for another purpose limits nothing. */
  private static Throttling read(@Nullable Document document) {
    try {
      return document == null ? Throttling.NONE : Throttling.read(document.key(), document.body());
    } catch (IllegalArgumentException _) {
      return Throttling.NONE;
    }
  }

  /**
   * Changes the number of claimed tasks of a group with these limits.
   *
   * @return the other groups whose tasks may start now and could not before
   */
  List<String> count(@Nullable GroupLimits limits, int by) {
    if (limits == null || by == 0) {
      return List.of();
    }
    limits.running += by;
    boolean frees = by < 0;
    List<String> freed =
        frees && limits.groups.size() > 1 && isLimited(limits.limits)
            ? new ArrayList<>(limits.groups)
            : List.of();
    for (SharedLimit each : limits.shared()) {
      each.running += by;
      if (frees && each.limit.running() > 0) {
        freed = new ArrayList<>(freed);
        freed.addAll(each.groups());
      }
    }
    return freed;
  }

  private static boolean isLimited(Throttling limits) {
    return limits.group().running() > 0 || limits.key().running() > 0;
  }

  /** Records that a task of a group with these limits has started. */
  void started(GroupLimits limits, long nowMillis) {
    limits.fullAtMicros =
        started(limits.limits.group(), scope(limits), limits.name, limits.fullAtMicros, nowMillis);
    for (SharedLimit each : limits.shared()) {
      each.fullAtMicros =
          started(each.limit, Scope.SHARED, each.name, each.fullAtMicros, nowMillis);
    }
  }

  private long started(Limit limit, Scope scope, String name, long fullAtMicros, long nowMillis) {
    if (limit.starts() == 0) {
      return fullAtMicros;
    }
    long after = limit.afterStart(fullAtMicros, nowMillis);
    record(new KeptStarts(scope, name, "", after), nowMillis);
    wake(scope, name, "", limit, after, nowMillis);
    return after;
  }

  /** Records that a task of a key has started; returns when all are possible again. */
  long startedOfKey(GroupLimits limits, String key, long fullAtMicros, long nowMillis) {
    Limit limit = limits.limits.key();
    if (limit.starts() == 0) {
      return fullAtMicros;
    }
    long after = limit.afterStart(fullAtMicros, nowMillis);
    record(new KeptStarts(keyScope(limits), limits.name, key, after), nowMillis);
    return after;
  }

  private void record(KeptStarts now, long nowMillis) {
    if (!starts.remove(now)) {
      byEnd.add(now);
    }
    starts.insert(now);
    for (int removed = 0; removed < REMOVALS; ) {
      KeptStarts first = byEnd.peek();
      if (first == null || first.fullAtMicros() > nowMillis * 1_000) {
        return;
      }
      byEnd.remove();
      KeptStarts last = starts.find(first);
      if (last != null && last.fullAtMicros() > first.fullAtMicros()) {
        byEnd.add(last);
      } else {
        starts.remove(first);
        removed++;
      }
    }
  }

  /** Notes when a task of a key may start, unless it is kept waiting by other tasks of the key. */
  void wakeForKey(GroupLimits limits, String key, long fullAtMicros, long nowMillis) {
    wake(keyScope(limits), limits.name, key, limits.limits.key(), fullAtMicros, nowMillis);
  }

  private void wake(
      Scope scope, String name, String key, Limit limit, long fullAtMicros, long nowMillis) {
    if (limit.starts() > 0) {
      long at = limit.possibleAtMillis(fullAtMicros);
      if (at > nowMillis) {
        wakeups.add(new Wakeup(at, scope, name, key));
      }
    }
  }

  /** Adds what a snapshot says of starts; its documents have been added before. */
  void restore(KeptStarts kept, long nowMillis) {
    starts.replace(kept);
    byEnd.add(kept);
    long fullAt = kept.fullAtMicros();
    if (kept.scope() == Scope.SHARED) {
      SharedLimit limit = shared(kept.name());
      limit.fullAtMicros = fullAt;
      wake(kept.scope(), kept.name(), "", limit.limit, fullAt, nowMillis);
      return;
    }
    GroupLimits limits = limits(kept.scope(), kept.name());
    if (limits != null && kept.key().isEmpty()) {
      limits.fullAtMicros = fullAt;
      wake(kept.scope(), kept.name(), "", limits.limits.group(), fullAt, nowMillis);
    }
  }

  private @Nullable GroupLimits limits(Scope scope, String name) {
    return switch (scope) {
      case GROUP, KEY -> ofGroups.get(name);
      case PREFIX, PREFIX_KEY -> ofPrefixes.get(name);
      case SHARED -> null;
    };
  }

  /** When {@link #due} has something next. */
  long nextDueMillis() {
    return wakeups.isEmpty() ? Long.MAX_VALUE : wakeups.first().atMillis();
  }

  /** Removes and returns the next wake-up that is due; null if there is none. */
  @Nullable Wakeup due(long nowMillis) {
    return nextDueMillis() <= nowMillis ? wakeups.removeFirst() : null;
  }

  /** The groups with tasks to which a limit applies. */
  List<String> groups(Scope scope, String name) {
    if (scope == Scope.SHARED) {
      return shared(name).groups();
    }
    GroupLimits limits = limits(scope, name);
    return limits == null ? List.of() : List.copyOf(limits.groups);
  }

  /** The estimated memory in bytes. */
  long memoryBytes() {
    return (long) Sizes.STARTS * starts.size();
  }

  /** What has started lately, for a snapshot. */
  FrozenTree<KeptStarts> freeze() {
    return starts.freeze();
  }

  /** A column of {@link #hash} values, which are compared without access to the starts. */
  private static final class HashColumn extends KeyColumn<KeptStarts> {
    private final long[] hashes;
    private final @Nullable KeptStarts[] elements;

    HashColumn(int capacity) {
      this(new long[capacity], new KeptStarts[capacity]);
    }

    private HashColumn(long[] hashes, @Nullable KeptStarts[] elements) {
      this.hashes = hashes;
      this.elements = elements;
    }

    @Override
    KeyColumn<KeptStarts> fresh(int capacity) {
      return new HashColumn(capacity);
    }

    @Override
    KeyColumn<KeptStarts> copy() {
      return new HashColumn(hashes.clone(), elements.clone());
    }

    @Override
    int compare(int index, KeptStarts probe) {
      int byHash = Long.compare(hashes[index], hash(probe));
      return byHash != 0 ? byHash : BY_NAME.compare(Objects.requireNonNull(elements[index]), probe);
    }

    @Override
    void set(int index, KeptStarts element) {
      hashes[index] = hash(element);
      elements[index] = element;
    }

    @Override
    void copy(KeyColumn<KeptStarts> source, int from, int to, int count) {
      HashColumn column = (HashColumn) source;
      System.arraycopy(column.hashes, from, hashes, to, count);
      System.arraycopy(column.elements, from, elements, to, count);
    }

    @Override
    void clear(int from, int to) {
      Arrays.fill(elements, from, to, null);
    }
  }
}

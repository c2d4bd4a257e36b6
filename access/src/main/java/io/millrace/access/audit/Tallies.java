package io.millrace.access.audit;

import io.millrace.access.audit.AuditEntry.Origin;
import io.millrace.access.audit.AuditEntry.Result;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts changes and refusals until they are written. What one origin does within a second becomes
 * one entry. If it then does the same to the same thing again, such as an execution node that
 * refreshes its record, or is refused the same again, this begins a run of repeats: they are
 * counted for a minute, then for two, and so on up to an hour, and become one entry each time. A
 * run ends when there was no repeat for five minutes. Safe for use by threads.
 */
final class Tallies {
  static final Duration SHORTEST_SPAN = Duration.ofMinutes(1);
  static final Duration LONGEST_SPAN = Duration.ofHours(1);
  static final Duration SILENCE = Duration.ofMinutes(5);

  private static final int RUNS_PER_ORIGIN = 5;

  private final InstantSource clock;
  private final int maxOrigins;
  private final int maxOfOne;

  /** How many origins of each principal have come within the second, about. */
  private final Map<String, Integer> ofOne = new ConcurrentHashMap<>();

  private final Map<Group, Tally> seconds = new ConcurrentHashMap<>();

  /** What has been written lately, and may come again. */
  private final Map<Group, Run> runs = new ConcurrentHashMap<>();

  /**
   * What is counted together.
   *
   * @param id set if each thing is counted apart
   */
  private record Group(Origin origin, @Nullable String id) {}

  /** Counts what is alike, until it is over. */
  private static class Tally {
    private long beganMillis;
    private long untilMillis;
    private long count;
    private @Nullable String first;
    private @Nullable String last;
    private boolean over;

    /** Returns false if it is over. */
    final synchronized boolean add(
        long nowMillis, long more, @Nullable String from, @Nullable String to) {
      if (over) {
        return false;
      }
      if (count == 0) {
        beganMillis = nowMillis;
        first = null;
        last = null;
      }
      untilMillis = nowMillis;
      count += more;
      first = first == null ? from : first;
      last = to == null ? last : to;
      return true;
    }

    final synchronized AuditEntry end(Origin origin) {
      over = true;
      return take(origin);
    }

    final AuditEntry take(Origin origin) {
      AuditEntry entry =
          new AuditEntry(
              Instant.ofEpochMilli(beganMillis),
              Instant.ofEpochMilli(untilMillis),
              origin,
              count,
              first,
              last);
      count = 0;
      return entry;
    }
  }

  /** Counts repeats. */
  private static final class Run extends Tally {
    private long spanMillis = SHORTEST_SPAN.toMillis();

    /** A run whose first change, which is an entry already, was made by then. */
    Run(long nowMillis) {
      super.untilMillis = nowMillis;
    }

    /** Takes what is to be written now, if there is something; then it may be over, too. */
    synchronized @Nullable AuditEntry takeDue(Origin origin, long nowMillis, boolean all) {
      super.over = nowMillis - super.untilMillis >= SILENCE.toMillis();
      long passed = nowMillis - super.beganMillis;
      if (super.count == 0 || !(all || super.over || passed < 0 || passed >= spanMillis)) {
        return null;
      }
      spanMillis = Math.min(2 * spanMillis, LONGEST_SPAN.toMillis());
      return take(origin);
    }

    synchronized boolean isOver() {
      return super.over;
    }

    /** Ends it if nothing was repeated so far. */
    synchronized boolean endIfIdle() {
      super.over |= super.count == 0 && spanMillis == SHORTEST_SPAN.toMillis();
      return super.over;
    }
  }

  /**
   * Nothing counted yet.
   *
   * @param maxOrigins how many origins are counted apart within a second; beyond, they are merged
   * @param maxOfOne how many of them may be of one principal, besides things that are counted apart
   */
  Tallies(InstantSource clock, int maxOrigins, int maxOfOne) {
    this.clock = clock;
    this.maxOrigins = maxOrigins;
    this.maxOfOne = maxOfOne;
  }

  /**
   * Counts a change or a refusal.
   *
   * @param apart whether each thing is counted apart; then only refusals can be repeats
   */
  void add(
      Origin origin, long count, @Nullable String first, @Nullable String last, boolean apart) {
    long now = clock.millis();
    if (mayRepeat(origin, first, last, apart)) {
      Run run = runs.get(new Group(origin, first));
      if (run != null && run.add(now, count, first, last)) {
        return;
      }
    }
    Group group = new Group(origin, apart ? first : null);
    while (true) {
      Tally tally = seconds.get(group);
      if (tally == null) {
        tally = seconds.computeIfAbsent(bounded(group), _ -> new Tally());
      }
      if (tally.add(now, count, first, last)) {
        return;
      }
      // It is being written; the next one of this origin is another.
      Thread.onSpinWait();
    }
  }

  /** Changes of things that are not named may be of different ones. */
  private static boolean mayRepeat(
      Origin origin, @Nullable String first, @Nullable String last, boolean apart) {
    return origin.result() == Result.DONE
        ? !apart && first != null && first.equals(last)
        : first == null || first.equals(last);
  }

  private Group bounded(Group group) {
    int size = seconds.size();
    Origin origin = group.origin();
    if (size < maxOrigins
        && (group.id() != null || ofOne.merge(origin.principal(), 1, Integer::sum) <= maxOfOne)) {
      return group;
    }
    return new Group(size < 2 * maxOrigins ? origin.merged() : origin.mergedWholly(), null);
  }

  /**
   * Takes what is to be written now. For use by one thread at a time.
   *
   * @param all whether this includes repeats whose time has not come
   */
  List<AuditEntry> take(boolean all) {
    long now = clock.millis();
    List<AuditEntry> entries = new ArrayList<>();
    ofOne.clear();
    runs.forEach((group, run) -> {
      AuditEntry entry = run.takeDue(group.origin(), now, all);
      if (entry != null) {
        entries.add(entry);
      }
    });
    int maxRuns = RUNS_PER_ORIGIN * maxOrigins;
    boolean full = runs.size() >= maxRuns;
    runs.values().removeIf(run -> full ? run.endIfIdle() : run.isOver());
    for (Group group : List.copyOf(seconds.keySet())) {
      Tally tally = seconds.remove(group);
      if (tally != null) {
        AuditEntry entry = tally.end(group.origin());
        entries.add(entry);
        if (runs.size() < maxRuns) {
          expect(group, entry.first(), now);
          expect(group, entry.last(), now);
        }
      }
    }
    return entries;
  }

  private void expect(Group group, @Nullable String id, long nowMillis) {
    if (mayRepeat(group.origin(), id, id, group.id() != null)) {
      runs.computeIfAbsent(new Group(group.origin(), id), _ -> new Run(nowMillis));
    }
  }
}

package io.millrace.schedules;

import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The nominal times of a schedule: those that at least one rule names and no exclusion covers. A
 * time that several rules name counts once. Immutable and pure.
 *
 * @param rules what names times, at least one
 * @param exclusions what excludes times; a cron expression of five fields excludes whole minutes,
 *     and a date the whole day
 */
public record Timetable(List<TimeRule> rules, List<TimeRule> exclusions) {
  /** The most rules, and the most exclusions. */
  public static final int MAX_RULES = 50;

  /** Times are not looked for beyond this. */
  private static final Duration HORIZON = Duration.ofDays(50 * 366);

  /** How many excluded spans are passed over before a time counts as not there. */
  private static final int MAX_EXCLUDED = 100_000;

  /**
   * Checks the number of rules.
   *
   * @throws InvalidScheduleException if there is no rule, or there are too many
   */
  public Timetable {
    rules = List.copyOf(rules);
    exclusions = List.copyOf(exclusions);
    if (rules.isEmpty() || rules.size() > MAX_RULES) {
      throw new InvalidScheduleException(
          "times", "a schedule has 1 to %d rules, not %d".formatted(MAX_RULES, rules.size()));
    }
    if (exclusions.size() > MAX_RULES) {
      throw new InvalidScheduleException(
          "except",
          "a schedule has up to %d exclusions, not %d".formatted(MAX_RULES, exclusions.size()));
    }
  }

  /**
   * The first nominal time after {@code after}.
   *
   * @return null if there is none within 50 years
   */
  public @Nullable Instant next(Instant after) {
    Instant horizon = after.plus(HORIZON);
    Instant from = after;
    for (int i = 0; i < MAX_EXCLUDED; i++) {
      Instant found = nextNamed(from);
      if (found == null || found.isAfter(horizon)) {
        return null;
      }
      Instant until = excludedUntil(found);
      if (until == null) {
        return found;
      }
      from = until.minusNanos(1);
    }
    return null;
  }

  private @Nullable Instant nextNamed(Instant after) {
    Instant first = null;
    for (TimeRule rule : rules) {
      Instant next = rule.next(after);
      if (next != null && (first == null || next.isBefore(first))) {
        first = next;
      }
    }
    return first;
  }

  private @Nullable Instant excludedUntil(Instant time) {
    Instant last = null;
    for (TimeRule exclusion : exclusions) {
      Instant until = exclusion.excludedUntil(time);
      if (until != null && (last == null || until.isAfter(last))) {
        last = until;
      }
    }
    return last;
  }

  /** Up to {@code count} nominal times after {@code after}, in order. */
  public List<Instant> next(Instant after, int count) {
    List<Instant> times = new ArrayList<>();
    Instant next = next(after);
    while (next != null && times.size() < count) {
      times.add(next);
      next = next(next);
    }
    return times;
  }
}

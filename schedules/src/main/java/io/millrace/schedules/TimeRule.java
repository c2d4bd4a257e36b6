package io.millrace.schedules;

import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.store.environment.DurationText;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Names times: by a cron expression, by an interval, or one by one. Immutable and pure. */
public sealed interface TimeRule {
  /** The shortest interval. */
  Duration SHORTEST = Duration.ofSeconds(1);

  /** The longest interval. */
  Duration LONGEST = Duration.ofDays(3_660);

  /** The most times that a list holds. */
  int MAX_TIMES = 1_000;

  /**
   * The first time that it names after {@code after}.
   *
   * @return null if there is none, or none within 50 years
   */
  @Nullable Instant next(Instant after);

  /**
   * Until when a time is excluded, if this rule excludes times.
   *
   * @return a later time, before which everything from {@code time} on is excluded; null if {@code
   *     time} is not excluded
   */
  @Nullable Instant excludedUntil(Instant time);

  /**
   * The times of a cron expression.
   *
   * @throws InvalidScheduleException if the expression is not valid
   */
  static TimeRule cron(String expression, ZoneId zone) {
    return new CronTimes(CronExpression.parse(expression), zone);
  }

  /**
   * Every so often, from a time on.
   *
   * @param from the first time, with whole milliseconds
   * @throws InvalidScheduleException if the interval is shorter than a second or longer than ten
   *     years, or is not a number of whole milliseconds
   */
  static TimeRule every(Duration interval, Instant from) {
    if (interval.compareTo(SHORTEST) < 0 || interval.compareTo(LONGEST) > 0) {
      throw new InvalidScheduleException(
          "every",
          "an interval lasts from 1 second to 3,660 days, not " + DurationText.show(interval));
    }
    if (!interval.equals(interval.truncatedTo(ChronoUnit.MILLIS))) {
      throw new InvalidScheduleException("every", "an interval has whole milliseconds");
    }
    return new Interval(interval, from.truncatedTo(ChronoUnit.MILLIS));
  }

  /**
   * Times one by one.
   *
   * @param times with an offset ({@code 2026-12-24T18:00:00Z}), or local in {@code zone} ({@code
   *     2026-12-24T18:00}); a local time that the zone skips is moved behind the gap
   * @param dates whether a date alone is accepted, which stands for the whole day
   * @throws InvalidScheduleException if one of them is not a time, or there are none or too many
   */
  static TimeRule at(List<String> times, ZoneId zone, boolean dates) {
    if (times.isEmpty() || times.size() > MAX_TIMES) {
      throw new InvalidScheduleException(
          "at", "a list has 1 to %,d times, not %,d".formatted(MAX_TIMES, times.size()));
    }
    List<Span> spans = new ArrayList<>();
    for (String time : times) {
      spans.add(Listed.read(time.strip(), zone, dates));
    }
    Collections.sort(spans);
    return new Listed(spans.stream().distinct().toList());
  }

  /**
   * The zone of this name.
   *
   * @throws InvalidScheduleException if there is no such zone in the IANA database
   */
  static ZoneId zone(String name) {
    if (name.equals("UTC") || name.equals("Z")) {
      return ZoneOffset.UTC;
    }
    try {
      if (ZoneId.getAvailableZoneIds().contains(name)) {
        return ZoneId.of(name);
      }
    } catch (DateTimeException e) {
      throw noZone(name, e);
    }
    throw noZone(name, null);
  }

  private static InvalidScheduleException noZone(String name, @Nullable Exception cause) {
    InvalidScheduleException unknown =
        new InvalidScheduleException(
            "zone",
            "'%s' is no time zone; use a name such as Europe/Berlin or UTC".formatted(name));
    if (cause != null) {
      unknown.initCause(cause);
    }
    return unknown;
  }

  /**
   * The times of a cron expression in a zone, with daylight saving as in cronie.
   *
   * <p>A frequent expression (its minute or hour begins with {@code *}) names every time whose
   * local time matches: it goes on evenly. Any other one names local times that should come once a
   * day: one that the zone skips comes right after the gap (once, if several are skipped), and one
   * that comes twice is taken the first time. Gaps of more than three hours are no daylight saving:
   * the times in them do not exist (Pacific/Apia had no 30 December 2011).
   */
  record CronTimes(CronExpression expression, ZoneId zone) implements TimeRule {
    private static final Duration LONGEST_SAVING = Duration.ofHours(3);

    @Override
    public @Nullable Instant next(Instant after) {
      return expression.frequent() ? nextMatching(after) : nextLocal(after);
    }

    private @Nullable Instant nextMatching(Instant after) {
      ZoneRules rules = zone.getRules();
      Instant from = after.truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
      while (true) {
        ZoneOffset offset = rules.getOffset(from);
        LocalDateTime local = expression.atOrAfter(LocalDateTime.ofInstant(from, offset));
        if (local == null) {
          return null;
        }
        Instant found = local.toInstant(offset);
        ZoneOffsetTransition change = rules.nextTransition(from);
        if (change == null || found.isBefore(change.getInstant())) {
          return found;
        }
        from = change.getInstant();
      }
    }

    private @Nullable Instant nextLocal(Instant after) {
      ZoneRules rules = zone.getRules();
      LocalDateTime from = secondAfter(after, rules.getOffset(after));
      while (true) {
        LocalDateTime local = expression.atOrAfter(from);
        if (local == null) {
          return null;
        }
        ZoneOffsetTransition change = rules.getTransition(local);
        if (change == null) {
          Instant found = local.toInstant(rules.getOffset(local));
          if (found.isAfter(after)) {
            return found;
          }
          from = local.plusSeconds(1);
        } else if (change.isGap()) {
          boolean saving = change.getDuration().compareTo(LONGEST_SAVING) <= 0;
          if (saving && change.getInstant().isAfter(after)) {
            return change.getInstant();
          }
          from = change.getDateTimeAfter();
        } else {
          Instant first = local.toInstant(change.getOffsetBefore());
          if (first.isAfter(after)) {
            return first;
          }
          from = secondAfter(after, change.getOffsetBefore());
        }
      }
    }

    private static LocalDateTime secondAfter(Instant time, ZoneOffset offset) {
      return LocalDateTime.ofInstant(time, offset).truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
    }

    @Override
    public @Nullable Instant excludedUntil(Instant time) {
      ZoneRules rules = zone.getRules();
      ZoneOffset offset = rules.getOffset(time);
      LocalDateTime local = LocalDateTime.ofInstant(time, offset).truncatedTo(ChronoUnit.SECONDS);
      LocalDateTime until = expression.excludedUntil(local);
      if (until == null) {
        return null;
      }
      Instant end = until.toInstant(offset);
      ZoneOffsetTransition change = rules.nextTransition(time);
      return change == null || end.isBefore(change.getInstant()) ? end : change.getInstant();
    }
  }

  /** Every so often from a time on; the zone has no influence. */
  record Interval(Duration every, Instant from) implements TimeRule {
    @Override
    public @Nullable Instant next(Instant after) {
      if (after.isBefore(from)) {
        return from;
      }
      long interval = every.toMillis();
      long since = after.toEpochMilli() - from.toEpochMilli();
      return from.plusMillis((since / interval + 1) * interval);
    }

    @Override
    public @Nullable Instant excludedUntil(Instant time) {
      boolean named = time.equals(next(time.minusNanos(1)));
      return named ? time.plusMillis(1) : null;
    }
  }

  /** A time with an end: times of a list are empty spans, days are whole ones. */
  record Span(Instant start, Instant end) implements Comparable<Span> {
    @Override
    public int compareTo(Span other) {
      int byStart = start.compareTo(other.start);
      return byStart == 0 ? end.compareTo(other.end) : byStart;
    }

    boolean covers(Instant time) {
      return time.equals(start) || (time.isAfter(start) && time.isBefore(end));
    }
  }

  /** Times and days one by one, in order. */
  record Listed(List<Span> spans) implements TimeRule {
    private static final Pattern DATE = Pattern.compile("\\d{4}-\\d{2}-\\d{2}");
    private static final Pattern OFFSET = Pattern.compile(".*T.*(Z|[+-]\\d{2}(:?\\d{2})?)");

    private static Span read(String text, ZoneId zone, boolean dates) {
      try {
        if (DATE.matcher(text).matches()) {
          if (!dates) {
            throw new InvalidScheduleException(
                "at", "'%s' needs a time; a date alone can only be excluded".formatted(text));
          }
          LocalDate day = LocalDate.parse(text);
          return new Span(
              day.atStartOfDay(zone).toInstant(), day.plusDays(1).atStartOfDay(zone).toInstant());
        }
        String upper = text.toUpperCase(Locale.ROOT);
        Instant time =
            OFFSET.matcher(upper).matches()
                ? OffsetDateTime.parse(upper).toInstant()
                : LocalDateTime.parse(upper).atZone(zone).toInstant();
        Instant whole = time.truncatedTo(ChronoUnit.MILLIS);
        return new Span(whole, whole);
      } catch (DateTimeException e) {
        InvalidScheduleException invalid =
            new InvalidScheduleException(
                "at",
                "'%s' is no time; write 2026-12-24T18:00:00Z, or 2026-12-24T18:00 for the schedule's zone"
                    .formatted(text));
        invalid.initCause(e);
        throw invalid;
      }
    }

    @Override
    public @Nullable Instant next(Instant after) {
      int low = 0;
      int high = spans.size();
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (spans.get(middle).start().isAfter(after)) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low < spans.size() ? spans.get(low).start() : null;
    }

    @Override
    public @Nullable Instant excludedUntil(Instant time) {
      return spans.stream()
          .filter(span -> span.covers(time))
          .flatMap(span -> Stream.of(span.end(), time.plusMillis(1)))
          .max(Instant::compareTo)
          .orElse(null);
    }
  }
}

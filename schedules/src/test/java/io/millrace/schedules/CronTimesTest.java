package io.millrace.schedules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CronTimesTest {
  private static final List<String> ODD_ZONES =
      List.of(
          "Australia/Lord_Howe",
          "Africa/Casablanca",
          "America/New_York",
          "Pacific/Apia",
          "Europe/Dublin",
          "Asia/Tehran");

  private static List<String> times(String cron, String zone, String from, int count) {
    ZoneId where = ZoneId.of(zone);
    Timetable timetable = new Timetable(List.of(TimeRule.cron(cron, where)), List.of());
    Instant start = LocalDateTime.parse(from).atZone(where).toInstant().minusNanos(1);
    return timetable.next(start, count).stream()
        .map(time -> time.atZone(where).toOffsetDateTime().toString())
        .toList();
  }

  @Test
  void a_fixed_time_that_is_skipped_comes_right_after_the_gap() {
    assertThat(times("30 2 * * *", "America/New_York", "2026-03-07T12:00", 3))
        .containsExactly(
            "2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00", "2026-03-10T02:30-04:00");
    assertThat(times("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00", 2))
        .containsExactly("2026-10-04T02:30+11:00", "2026-10-05T02:15+11:00");
    assertThat(times("0 0 * * *", "Asia/Beirut", "2026-03-28T12:00", 2))
        .containsExactly("2026-03-29T01:00+03:00", "2026-03-30T00:00+03:00");
  }

  @Test
  void several_fixed_times_within_a_gap_are_one_run() {
    assertThat(times("0,30 2,3 * * *", "America/New_York", "2026-03-08T00:00", 3))
        .containsExactly(
            "2026-03-08T03:00-04:00", "2026-03-08T03:30-04:00", "2026-03-09T02:00-04:00");
  }

  @Test
  void a_fixed_time_within_the_repeated_hour_comes_once() {
    assertThat(times("30 1 * * *", "America/New_York", "2026-10-31T12:00", 2))
        .containsExactly("2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00");
    assertThat(times("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00", 2))
        .containsExactly("2026-04-05T01:45+11:00", "2026-04-06T01:45+10:30");
  }

  @Test
  void frequent_times_go_on_evenly() {
    assertThat(times("*/30 * * * *", "America/New_York", "2026-03-08T01:00", 4))
        .containsExactly(
            "2026-03-08T01:00-05:00",
            "2026-03-08T01:30-05:00",
            "2026-03-08T03:00-04:00",
            "2026-03-08T03:30-04:00");
    assertThat(times("30 * * * *", "America/New_York", "2026-11-01T00:00", 4))
        .containsExactly(
            "2026-11-01T00:30-04:00",
            "2026-11-01T01:30-04:00",
            "2026-11-01T01:30-05:00",
            "2026-11-01T02:30-05:00");
  }

  @Test
  void a_day_that_a_zone_left_out_has_no_times() {
    assertThat(times("0 6 * * *", "Pacific/Apia", "2011-12-29T00:00", 2))
        .containsExactly("2011-12-29T06:00-10:00", "2011-12-31T06:00+14:00");
  }

  @Test
  void day_of_month_and_day_of_week_are_alternatives_if_both_are_restricted() {
    assertThat(times("0 0 13 * FRI", "UTC", "2026-02-01T00:00", 5))
        .containsExactly(
            "2026-02-06T00:00Z",
            "2026-02-13T00:00Z",
            "2026-02-20T00:00Z",
            "2026-02-27T00:00Z",
            "2026-03-06T00:00Z");
    assertThat(times("0 0 */2 * FRI", "UTC", "2026-02-01T00:00", 2))
        .containsExactly("2026-02-13T00:00Z", "2026-02-27T00:00Z");
  }

  @Test
  void a_sixth_field_names_seconds() {
    assertThat(times("*/20 59 23 31 12 *", "UTC", "2026-01-01T00:00", 4))
        .containsExactly(
            "2026-12-31T23:59Z",
            "2026-12-31T23:59:20Z",
            "2026-12-31T23:59:40Z",
            "2027-12-31T23:59Z");
  }

  @ParameterizedTest
  @CsvSource({
    "@hourly, 0 * * * *",
    "@Daily, 0 0 * * *",
    "@weekly, 0 0 * * SUN",
    "@monthly, 0 0 1 * *",
    "@yearly, 0 0 1 1 *",
    "0 0 * * 7, 0 0 * * 0",
    "0 0 * * FRI-SUN, '0 0 * * 5,6,0'",
    "5/20 * * * *, '5,25,45 * * * *'"
  })
  void expressions_of_the_same_meaning_name_the_same_times(String one, String other) {
    assertThat(times(one, "Europe/Berlin", "2026-03-01T00:00", 50))
        .isEqualTo(times(other, "Europe/Berlin", "2026-03-01T00:00", 50));
  }

  @Test
  void the_29th_of_february_comes_in_leap_years() {
    assertThat(times("0 0 29 2 *", "UTC", "2026-01-01T00:00", 2))
        .containsExactly("2028-02-29T00:00Z", "2032-02-29T00:00Z");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "   ",
        "* * * *",
        "* * * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "x * * * *",
        "*/0 * * * *",
        "/5 * * * *",
        "0|5 * * * *",
        "5-1 * * * *",
        "1,,2 * * * *",
        "-1 * * * *",
        "0 0 31 2 *",
        "0 0 L * *",
        "@reboot",
        "99999999999 * * * *",
        "0 0 * JANU *"
      })
  void what_is_no_expression_is_refused(String cron) {
    assertThatThrownBy(() -> TimeRule.cron(cron, ZoneOffset.UTC))
        .isInstanceOf(InvalidScheduleException.class)
        .hasMessageContaining("cron expression");
  }

  @Test
  void unknown_zones_are_refused() {
    assertThat(TimeRule.zone("Africa/Casablanca")).isEqualTo(ZoneId.of("Africa/Casablanca"));
    assertThat(TimeRule.zone("UTC")).isEqualTo(ZoneOffset.UTC);
    assertThatThrownBy(() -> TimeRule.zone("Mars/Olympus"))
        .isInstanceOf(InvalidScheduleException.class)
        .hasMessageContaining("Mars/Olympus");
    assertThatThrownBy(() -> TimeRule.zone("+02:00")).isInstanceOf(InvalidScheduleException.class);
  }

  /**
   * Walks ten years minute by minute as cronie does: it compares the local time before and after
   * each minute, and knows nothing of transitions.
   */
  @Test
  void a_walk_through_every_minute_finds_the_same_times() {
    Random random = new Random(7);
    for (String zone : ODD_ZONES) {
      ZoneId where = ZoneId.of(zone);
      for (int i = 0; i < 12; i++) {
        String cron = draw(random);
        // Around the changes of the year, which are all in these months for one zone or another.
        int month = List.of(1, 3, 4, 9, 10, 11).get(random.nextInt(6));
        Instant from =
            LocalDateTime.of(2010 + random.nextInt(25), month, 1, 0, 0).atZone(where).toInstant();
        Instant until = from.plus(Duration.ofDays(40));
        TimeRule rule = TimeRule.cron(cron, where);
        assertThat(between(rule, from, until))
            .as("%s in %s from %s", cron, zone, from)
            .isEqualTo(walk(cron, where, from, until));
      }
    }
  }

  private static String draw(Random random) {
    String minute = pick(random, "*", "*/20", "0", "30", "0,15,45", "10-50/10", "59");
    String hour = pick(random, "*", "*/2", "0", "1", "2", "3", "1-3", "0,23", "2,14");
    String day = pick(random, "*", "*", "*", "1-7", "*/2", "31");
    String weekday = pick(random, "*", "*", "*", "SUN", "6,0", "*/3");
    return "%s %s %s * %s".formatted(minute, hour, day, weekday);
  }

  private static String pick(Random random, String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  private static List<Instant> between(TimeRule rule, Instant from, Instant until) {
    return Stream.iterate(rule.next(from.minusNanos(1)), time -> time != null, rule::next)
        .takeWhile(time -> time.isBefore(until))
        .toList();
  }

  private static List<Instant> walk(String cron, ZoneId zone, Instant from, Instant until) {
    CronExpression expression = CronExpression.parse(cron);
    Fields fields = Fields.of(expression);
    TreeSet<Instant> found = new TreeSet<>();
    LocalDateTime reached = LocalDateTime.ofInstant(from.minusSeconds(60), zone);
    for (Instant now = from; now.isBefore(until); now = now.plusSeconds(60)) {
      LocalDateTime local = LocalDateTime.ofInstant(now, zone);
      if (expression.frequent()) {
        if (fields.match(local)) {
          found.add(now);
        }
        continue;
      }
      if (Duration.between(reached, local).compareTo(Duration.ofHours(3).plusMinutes(1)) > 0) {
        reached = local.minusMinutes(1);
      }
      while (reached.isBefore(local)) {
        reached = reached.plusMinutes(1);
        if (fields.match(reached)) {
          found.add(now);
        }
      }
    }
    return new ArrayList<>(found);
  }

  /** The fields of an expression, read anew, without the bits. */
  private record Fields(
      Set<Integer> minutes,
      Set<Integer> hours,
      Set<Integer> days,
      Set<Integer> weekdays,
      boolean starred) {
    static Fields of(CronExpression expression) {
      String[] fields = expression.text().split(" ", -1);
      return new Fields(
          values(fields[0], 0, 59),
          values(fields[1], 0, 23),
          values(fields[2], 1, 31),
          values(fields[4].replace("SUN", "0"), 0, 6),
          fields[2].startsWith("*") || fields[4].startsWith("*"));
    }

    private static Set<Integer> values(String field, int least, int most) {
      return Stream.of(field.split(",", -1))
          .flatMap(part -> {
            String[] stepped = part.split("/", -1);
            int step = stepped.length == 1 ? 1 : Integer.parseInt(stepped[1]);
            String[] ends = stepped[0].split("-", -1);
            int from = ends[0].equals("*") ? least : Integer.parseInt(ends[0]);
            int to = ends.length == 2 ? Integer.parseInt(ends[1]) : from;
            int end = ends[0].equals("*") ? most : to;
            return Stream.iterate(from, value -> value <= end, value -> value + step);
          })
          .collect(Collectors.toSet());
    }

    boolean match(LocalDateTime time) {
      boolean day = days.contains(time.getDayOfMonth());
      boolean week = weekdays.contains(time.getDayOfWeek().getValue() % 7);
      return minutes.contains(time.getMinute())
          && hours.contains(time.getHour())
          && (starred ? day && week : day || week);
    }
  }

  @Test
  void ten_years_of_hours_in_odd_zones_are_even() {
    for (String zone : ODD_ZONES) {
      TimeRule rule = TimeRule.cron("0 * * * *", ZoneId.of(zone));
      Instant from = Instant.parse("2024-01-01T00:00:00Z");
      List<Instant> hours = between(rule, from, from.plus(Duration.ofDays(3_653)));
      // Half an hour is lost or won twice a year on Lord Howe Island, and nowhere else.
      assertThat(hours).as(zone).hasSizeBetween(3_653 * 24 - 12, 3_653 * 24 + 12);
      for (int i = 1; i < hours.size(); i++) {
        Duration step = Duration.between(hours.get(i - 1), hours.get(i));
        assertThat(step.toMinutes()).as("%s at %s", zone, hours.get(i)).isIn(30L, 60L, 90L);
      }
    }
  }

  @Test
  void ten_years_of_days_in_odd_zones_have_one_run_each() {
    for (String zone : ODD_ZONES) {
      ZoneId where = ZoneId.of(zone);
      for (int hour = 0; hour < 4; hour++) {
        TimeRule rule = TimeRule.cron("20 %d * * *".formatted(hour), where);
        Instant from = LocalDateTime.of(2024, 1, 1, 0, 0).atZone(where).toInstant();
        Instant until = LocalDateTime.of(2034, 1, 1, 0, 0).atZone(where).toInstant();
        List<Instant> runs = between(rule, from, until);
        assertThat(runs).as(zone).hasSize(3_653);
        assertThat(runs.stream().map(run -> run.atZone(where).toLocalDate()).distinct())
            .hasSize(3_653);
      }
    }
  }
}

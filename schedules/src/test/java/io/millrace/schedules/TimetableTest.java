package io.millrace.schedules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimetableTest {
  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

  private static Instant at(String text) {
    return Instant.parse(text);
  }

  @Test
  void an_interval_counts_from_its_anchor() {
    Timetable timetable =
        new Timetable(
            List.of(TimeRule.every(Duration.ofMinutes(90), at("2026-01-01T00:30:00Z"))), List.of());
    assertThat(timetable.next(at("2025-06-01T00:00:00Z"), 2))
        .containsExactly(at("2026-01-01T00:30:00Z"), at("2026-01-01T02:00:00Z"));
    assertThat(timetable.next(at("2026-01-01T02:00:00Z"), 1))
        .containsExactly(at("2026-01-01T03:30:00Z"));
    assertThat(timetable.next(at("2026-01-01T01:59:59.999Z"), 1))
        .containsExactly(at("2026-01-01T02:00:00Z"));
  }

  @Test
  void listed_times_come_once_and_in_order() {
    TimeRule listed =
        TimeRule.at(
            List.of("2026-12-24T18:00", "2026-03-01T10:00:00+05:00", "2026-12-24T17:00:00Z"),
            BERLIN,
            false);
    assertThat(new Timetable(List.of(listed), List.of()).next(at("2026-01-01T00:00:00Z"), 9))
        .containsExactly(at("2026-03-01T05:00:00Z"), at("2026-12-24T17:00:00Z"));
  }

  @Test
  void several_rules_name_each_time_once() {
    Timetable timetable =
        new Timetable(
            List.of(
                TimeRule.cron("0 12 * * *", ZoneOffset.UTC),
                TimeRule.cron("0 8 * * MON", BERLIN),
                TimeRule.every(Duration.ofHours(12), at("2026-01-05T00:00:00Z"))),
            List.of());
    assertThat(timetable.next(at("2026-01-05T00:00:00Z"), 4))
        .containsExactly(
            at("2026-01-05T07:00:00Z"),
            at("2026-01-05T12:00:00Z"),
            at("2026-01-06T00:00:00Z"),
            at("2026-01-06T12:00:00Z"));
  }

  @Test
  void exclusions_leave_out_times_days_and_months() {
    Timetable timetable =
        new Timetable(
            List.of(TimeRule.cron("*/10 * * * * *", BERLIN)),
            List.of(
                TimeRule.at(List.of("2026-12-25"), BERLIN, true),
                TimeRule.cron("* * 26 12 *", BERLIN),
                TimeRule.at(List.of("2026-12-27T00:00"), BERLIN, true),
                TimeRule.cron("* * * 1-6 *", BERLIN)));
    assertThat(timetable.next(at("2026-12-24T22:59:40Z"), 2))
        .containsExactly(at("2026-12-24T22:59:50Z"), at("2026-12-26T23:00:10Z"));
    assertThat(timetable.next(at("2026-12-31T22:59:50Z"), 1))
        .containsExactly(at("2027-06-30T22:00:00Z"));
  }

  @Test
  void a_timetable_whose_times_are_all_excluded_names_none() {
    TimeRule always = TimeRule.cron("* * * * *", BERLIN);
    assertThat(new Timetable(List.of(always), List.of(always)).next(at("2026-01-01T00:00:00Z")))
        .isNull();
  }

  @Test
  void what_names_no_time_is_refused() {
    assertThatThrownBy(() -> TimeRule.every(Duration.ofMillis(999), Instant.EPOCH))
        .isInstanceOf(InvalidScheduleException.class);
    assertThatThrownBy(() -> TimeRule.every(Duration.ofDays(4_000), Instant.EPOCH))
        .isInstanceOf(InvalidScheduleException.class);
    for (String time : List.of("2026-12-25", "tomorrow", "2026-13-01T00:00", "25:00", "")) {
      assertThatThrownBy(() -> TimeRule.at(List.of(time), BERLIN, false))
          .isInstanceOf(InvalidScheduleException.class)
          .hasMessageContaining(time);
    }
    assertThatThrownBy(() -> TimeRule.at(List.of(), BERLIN, false))
        .isInstanceOf(InvalidScheduleException.class);
    assertThatThrownBy(() -> new Timetable(List.of(), List.of()))
        .isInstanceOf(InvalidScheduleException.class);
  }
}

package io.millrace.schedules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.schedules.ScheduleState.Cause;
import io.millrace.schedules.ScheduleState.Ending;
import io.millrace.schedules.ScheduleState.MissedRun;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.schedules.SchedulesException.NoScheduleException;
import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

class SchedulesTest {
  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
  private final TaskStore store =
      TaskStore.open(StoreOptions.in(Path.of("store")).withEnvironment(environment));
  private final Subscription news = store.subscribe(Interest.everything());
  private final DocumentTarget target = new DocumentTarget(store, new AtomicLong());
  private Instant now = Instant.parse("2026-06-01T12:00:00Z");
  private final Schedules schedules =
      Schedules.in(store, List.of(target), () -> now, new Random(1));
  private ScheduleRunner runner = schedules.runner();

  @AfterEach
  void close() {
    news.close();
    store.close();
  }

  private static ObjectNode form(String times, String more) {
    return Json.read(
        Bytes.of(
            "{\"times\": [%s], \"target\": {\"document\": \"x\"}%s}"
                .formatted(times, more.isEmpty() ? "" : ", " + more)));
  }

  private static ObjectNode hourly(String more) {
    return form("{\"cron\": \"0 * * * *\"}", more);
  }

  /** Steps until nothing is left to do now. */
  private void settle() throws InterruptedException {
    Instant due = now;
    boolean stirred = true;
    while (stirred || !due.isAfter(now)) {
      due = runner.step(now);
      for (Commit commit = news.next(Duration.ZERO);
          commit != null;
          commit = news.next(Duration.ZERO)) {
        runner.changed(commit);
      }
      stirred = runner.hasChanges();
    }
  }

  private void passTo(String time) throws InterruptedException {
    Instant until = Instant.parse("2026-06-" + time + "Z");
    while (now.isBefore(until)) {
      now = now.plusSeconds(600);
      settle();
    }
  }

  private void awayUntil(String time) throws InterruptedException {
    now = Instant.parse("2026-06-" + time + "Z");
    settle();
  }

  private void end(Ending ending) throws InterruptedException {
    target.runs().stream()
        .filter(DocumentTarget.Started::isActive)
        .forEach(run -> target.end(run.id(), ending));
    settle();
  }

  private List<String> nominals() {
    return target.runs().stream().map(run -> run.nominal().toString().substring(8, 16)).toList();
  }

  private ScheduleState state() {
    return schedules.find("s").orElseThrow().state();
  }

  @Test
  void a_run_starts_at_each_time() throws InterruptedException {
    schedules.put("s", hourly("\"overlap\": \"allow\""));
    passTo("01T15:30:00");
    assertThat(nominals()).containsExactly("01T13:00", "01T14:00", "01T15:00");
    assertThat(state().active()).hasSize(3);
  }

  @Test
  void a_run_is_left_out_while_an_earlier_one_goes_on() throws InterruptedException {
    schedules.put("s", hourly(""));
    passTo("01T15:30:00");
    end(Ending.SUCCEEDED);
    passTo("01T16:10:00");
    assertThat(nominals()).containsExactly("01T13:00", "01T16:00");
    assertThat(state().counts()).isEqualTo(new ScheduleState.Counts(2, 1, 0, 0, 2));
  }

  @Test
  void one_run_waits_for_the_end_of_the_earlier_one() throws InterruptedException {
    schedules.put("s", hourly("\"overlap\": \"queue_one\""));
    passTo("01T15:30:00");
    end(Ending.SUCCEEDED);
    assertThat(nominals()).containsExactly("01T13:00", "01T14:00");
    assertThat(state().counts().skipped()).isEqualTo(1);
  }

  @Test
  void all_runs_wait_for_the_end_of_the_earlier_ones() throws InterruptedException {
    schedules.put("s", hourly("\"overlap\": \"queue_all\""));
    passTo("01T15:30:00");
    for (int i = 0; i < 3; i++) {
      assertThat(target.runs()).hasSize(i + 1);
      end(Ending.SUCCEEDED);
    }
    assertThat(nominals()).containsExactly("01T13:00", "01T14:00", "01T15:00");
  }

  @Test
  void the_running_one_is_cancelled_for_the_next_one() throws InterruptedException {
    schedules.put("s", hourly("\"overlap\": \"cancel\""));
    passTo("01T14:00:00");
    assertThat(target.runs()).singleElement().matches(run -> run.state().equals("stopping"));
    passTo("01T15:10:00");
    end(Ending.CANCELLED);
    assertThat(nominals()).containsExactly("01T13:00", "01T15:00");
    assertThat(state().counts().skipped()).isEqualTo(1);
    assertThat(state().results().getFirst().ending()).isEqualTo(Ending.CANCELLED);
  }

  @ParameterizedTest
  @CsvSource({"none, 0, 4, 16", "last, 1, 3, 15", "all, 3, 1, 13"})
  void missed_runs_are_caught_up_as_far_as_it_was_said(
      String missed, int started, int counted, String last) throws InterruptedException {
    schedules.put(
        "s",
        hourly("\"overlap\": \"allow\", \"window\": \"3h\", \"missed\": \"%s\"".formatted(missed)));
    settle();
    awayUntil("01T16:30:00");
    assertThat(target.runs()).hasSize(started);
    assertThat(state().counts().missed()).isEqualTo(counted);
    MissedRun missedLast = Objects.requireNonNull(state().lastMissed());
    assertThat(missedLast.nominal()).asString().contains("01T" + last + ":00");
    assertThat(missedLast.noticed()).asString().contains("01T16:30");
    passTo("01T17:00:00");
    assertThat(target.runs()).hasSize(started + 1);
  }

  @Test
  void nothing_runs_while_a_schedule_is_paused_or_for_that_time_later()
      throws InterruptedException {
    schedules.put("s", hourly(""));
    schedules.pause("s", "database moves");
    passTo("01T14:30:00");
    assertThat(target.runs()).isEmpty();
    assertThat(state().pause()).extracting(ScheduleState.Pause::note).isEqualTo("database moves");
    schedules.resume("s");
    passTo("01T15:10:00");
    assertThat(nominals()).containsExactly("01T15:00");
    assertThat(state().counts().missed()).isZero();
  }

  @Test
  void a_schedule_pauses_after_failures_in_a_row() throws InterruptedException {
    schedules.put("s", hourly("\"pause_after_failures\": 2"));
    passTo("01T13:00:00");
    end(Ending.FAILED);
    passTo("01T14:00:00");
    end(Ending.SUCCEEDED);
    passTo("01T15:00:00");
    end(Ending.FAILED);
    passTo("01T16:00:00");
    assertThat(state().pause()).isNull();
    end(Ending.FAILED);
    assertThat(state().pause()).matches(pause -> pause != null && pause.failures());
    passTo("01T18:00:00");
    assertThat(target.runs()).hasSize(4);
    schedules.resume("s");
    assertThat(state().failuresInRow()).isZero();
  }

  @Test
  void a_run_that_cannot_be_started_has_failed() throws InterruptedException {
    ObjectNode form = hourly("");
    ((ObjectNode) form.required("target")).put("document", "none");
    schedules.put("s", form);
    passTo("01T13:00:00");
    assertThat(state().results())
        .singleElement()
        .matches(result -> result.ending() == Ending.FAILED)
        .matches(result -> "it is gone".equals(result.reason()));
  }

  @Test
  void a_run_can_be_started_at_once() throws InterruptedException {
    schedules.put("s", hourly(""));
    ScheduleState.Run run = schedules.runNow("s");
    settle();
    assertThat(run.cause()).isEqualTo(Cause.MANUAL);
    assertThat(state().active()).containsExactly(run);
    end(Ending.SUCCEEDED);
    assertThat(state().results().getFirst().cause()).isEqualTo(Cause.MANUAL);
  }

  @Test
  void a_backfill_runs_each_time_that_has_not_run_one_after_the_other()
      throws InterruptedException {
    schedules.put("s", hourly(""));
    passTo("01T13:10:00");
    end(Ending.SUCCEEDED);
    Instant from = Instant.parse("2026-06-01T11:00:00Z");
    List<Instant> times = schedules.backfill("s", from, from.plus(Duration.ofDays(1)));
    assertThat(times)
        .containsExactly(
            Instant.parse("2026-06-01T11:00:00Z"), Instant.parse("2026-06-01T12:00:00Z"));
    settle();
    assertThat(target.runs()).hasSize(2);
    end(Ending.SUCCEEDED);
    end(Ending.SUCCEEDED);
    assertThat(nominals()).containsExactly("01T13:00", "01T11:00", "01T12:00");
    assertThat(schedules.backfill("s", from, now)).isEmpty();
    settle();
    assertThat(target.runs()).hasSize(3);
    passTo("01T14:10:00");
    assertThat(nominals()).endsWith("01T14:00");
    assertThat(state().ran()).hasSize(1);
  }

  @Test
  void jitter_follows_from_the_schedule_and_the_time() throws InterruptedException {
    schedules.put("s", hourly("\"jitter\": \"30m\", \"overlap\": \"allow\""));
    Schedule schedule = schedules.find("s").orElseThrow().schedule();
    passTo("02T12:00:00");
    assertThat(target.runs()).hasSizeGreaterThan(22);
    for (DocumentTarget.Started run : target.runs()) {
      Instant due = schedule.due(run.nominal());
      assertThat(due).isBetween(run.nominal(), run.nominal().plus(Duration.ofMinutes(30)));
      assertThat(run.started()).isBetween(due, due.plusSeconds(600));
    }
    assertThat(
            target.runs().stream().map(run -> schedule.due(run.nominal()).getEpochSecond() % 3600))
        .doesNotHaveDuplicates();
  }

  @Test
  void a_change_of_times_counts_from_now_and_keeps_what_has_happened() throws InterruptedException {
    schedules.put("s", hourly(""));
    passTo("01T13:30:00");
    schedules.put("s", form("{\"cron\": \"*/20 * * * *\"}", ""));
    settle();
    end(Ending.SUCCEEDED);
    passTo("01T13:40:00");
    assertThat(nominals()).containsExactly("01T13:00", "01T13:40");
    assertThat(state().counts().started()).isEqualTo(2);
  }

  @Test
  void another_runner_takes_over_where_the_last_one_stopped() throws InterruptedException {
    schedules.put("s", hourly("\"overlap\": \"queue_all\""));
    passTo("01T14:10:00");
    runner = schedules.runner();
    settle();
    passTo("01T15:10:00");
    end(Ending.SUCCEEDED);
    assertThat(nominals()).containsExactly("01T13:00", "01T14:00");
    assertThat(state().waiting()).hasSize(1);
  }

  @Test
  void a_clock_that_is_set_back_repeats_nothing() throws InterruptedException {
    schedules.put("s", hourly("\"overlap\": \"allow\""));
    passTo("01T14:10:00");
    now = now.minus(Duration.ofHours(2));
    settle();
    passTo("01T15:10:00");
    assertThat(nominals()).containsExactly("01T13:00", "01T14:00", "01T15:00");
  }

  @Test
  void a_deleted_schedule_runs_no_more() throws InterruptedException {
    schedules.put("s", hourly(""));
    passTo("01T13:10:00");
    schedules.delete("s");
    settle();
    passTo("01T15:10:00");
    assertThat(nominals()).containsExactly("01T13:00");
    assertThat(schedules.find("s")).isEmpty();
    assertThatThrownBy(() -> schedules.delete("s")).isInstanceOf(NoScheduleException.class);
    assertThat(runner.hasRuns()).isFalse();
  }

  @Test
  void schedules_are_listed_by_name() {
    for (String name : List.of("b", "a.1", "c", "a.2")) {
      schedules.put(name, hourly(""));
    }
    schedules.pause("c", "");
    List<String> names = new ArrayList<>();
    schedules.list("a.", "", 10, _ -> true).forEach(view -> names.add(view.schedule().name()));
    schedules.list("", "a.2", 1, _ -> true).forEach(view -> names.add(view.schedule().name()));
    schedules
        .list("", "", 9, view -> view.state().pause() != null)
        .forEach(view -> names.add(view.schedule().name()));
    assertThat(names).containsExactly("a.1", "a.2", "b", "c");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{}; times",
        "{\"times\": []}; times",
        "{\"times\": [{}]}; times[0].",
        "{\"times\": [{\"cron\": \"x\"}]}; times[0].cron",
        "{\"times\": [{\"cron\": \"@daily\", \"zone\": \"Mars\"}]}; times[0].zone",
        "{\"times\": [{\"cron\": \"@daily\", \"every\": \"1h\"}]}; times[0].",
        "{\"times\": [{\"every\": \"1\"}]}; times[0].every",
        "{\"times\": [{\"every\": \"10ms\"}]}; times[0].every",
        "{\"times\": [{\"every\": \"1h\", \"form\": \"\"}]}; times[0].form",
        "{\"times\": [{\"at\": [\"2026-01-01\"]}]}; times[0].at",
        "{\"times\": [{\"at\": [7]}]}; times[0].at",
        "{\"times\": [{\"cron\": \"@daily\"}], \"except\": {}}; except",
        "{\"times\": [{\"cron\": \"@daily\"}], \"zone\": 7}; zone",
        "{\"times\": [{\"cron\": \"@daily\"}], \"jitter\": \"2d\"}; jitter",
        "{\"times\": [{\"cron\": \"@daily\"}], \"missed\": \"some\"}; missed",
        "{\"times\": [{\"cron\": \"@daily\"}], \"overlap\": \"queue-one\"}; overlap",
        "{\"times\": [{\"cron\": \"@daily\"}], \"window\": \"-1h\"}; window",
        "{\"times\": [{\"cron\": \"@daily\"}], \"pause_after_failures\": -1}; pause_after_failures",
        "{\"times\": [{\"cron\": \"@daily\"}], \"pause_after_failures\": 1.5};"
            + " pause_after_failures",
        "{\"times\": [{\"cron\": \"@daily\"}], \"notes\": 1}; notes",
        "{\"times\": [{\"cron\": \"@daily\"}]}; target",
        "{\"times\": [{\"cron\": \"@daily\"}], \"target\": {\"quue\": 1}}; target",
        "{\"times\": [{\"cron\": \"@daily\"}], \"target\": {\"document\": 1}}; target.document"
      })
  void what_is_wrong_is_refused_with_its_field(String form, String field) {
    assertThatThrownBy(() -> schedules.put("s", Json.read(Bytes.of(form))))
        .isInstanceOfSatisfying(
            InvalidScheduleException.class, e -> assertThat(e.field()).isEqualTo(field));
    assertThat(schedules.find("s")).isEmpty();
  }

  @Test
  void a_name_has_letters_digits_and_some_marks() {
    for (String name : List.of("", "a b", "ä", "a/b", "x".repeat(101))) {
      assertThatThrownBy(() -> schedules.put(name, hourly("")))
          .isInstanceOf(InvalidScheduleException.class);
    }
  }
}

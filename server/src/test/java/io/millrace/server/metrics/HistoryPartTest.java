package io.millrace.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.Route;
import io.millrace.server.Part;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The history of figures, with a clock that the test moves. */
final class HistoryPartTest {
  private static final Instant START = Instant.parse("2026-12-24T18:00:00Z");

  private final AtomicReference<Instant> now = new AtomicReference<>(START);
  private final AtomicBoolean canRead = new AtomicBoolean(true);
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Counter done =
      Counter.builder("millrace.jobs.attempts").tag("outcome", "done").register(registry);
  private long waiting = 7;

  private final Part jobs =
      new Part() {
        @Override
        public List<Route> routes() {
          return List.of();
        }

        @Override
        public List<Level> levels() {
          return List.of(new Level("jobs", waiting, 2));
        }
      };
  private final HistoryPart history = new HistoryPart(List.of(jobs), canRead::get, now::get);
  private final Step step = history.activities().getFirst().step();

  HistoryPartTest() {
    var _ = history.measure(registry);
  }

  /** Takes the samples that are due in a span, each of which finds one more job done. */
  private void pass(Duration span) {
    Instant end = now.get().plus(span);
    while (now.get().isBefore(end)) {
      done.increment();
      now.set(step.step(now.get()));
    }
  }

  private static List<Long> numbers(JsonNode column) {
    return column.values().stream().map(JsonNode::asLong).toList();
  }

  @Test
  void samples_have_levels_and_counts_at_their_times() {
    pass(Duration.ofSeconds(20));
    waiting = 9;
    JsonNode shown = history.shown(60, 0);
    assertThat(shown.path("started").asString()).isEqualTo(START.toString());
    assertThat(shown.path("interval_seconds").asInt()).isEqualTo(10);
    long first = START.toEpochMilli();
    assertThat(numbers(shown.path("at"))).containsExactly(first, first + 10_000, first + 20_000);
    assertThat(numbers(shown.path("jobs").path("waiting"))).containsExactly(7L, 7L, 9L);
    assertThat(numbers(shown.path("jobs").path("running"))).containsExactly(2L, 2L, 2L);
    assertThat(numbers(shown.path("jobs").path("done"))).containsExactly(1L, 2L, 2L);
    assertThat(numbers(history.shown(60, first + 10_000).path("at")))
        .containsExactly(first + 20_000);
  }

  @Test
  void the_last_hour_is_kept_in_full_and_a_day_by_the_minute() {
    pass(Duration.ofHours(30));
    JsonNode hour = history.shown(60, 0);
    assertThat(hour.path("at").size()).isBetween(360, 361);
    assertThat(hour.path("interval_seconds").asInt()).isEqualTo(10);
    JsonNode day = history.shown(1440, 0);
    assertThat(day.path("at").size()).isBetween(1440, 1442);
    assertThat(day.path("interval_seconds").asInt()).isEqualTo(60);
    List<Long> counts = numbers(day.path("jobs").path("done"));
    assertThat(counts).isSorted().endsWith(30L * 360);
    assertThat(counts.getFirst()).isGreaterThanOrEqualTo(6L * 360);
    List<Long> times = numbers(day.path("at"));
    for (int i = 2; i < times.size(); i++) {
      assertThat(times.get(i - 1) - times.get(i - 2)).isEqualTo(60_000);
    }
  }

  @Test
  void nothing_is_read_while_the_store_cannot_answer() {
    pass(Duration.ofSeconds(20));
    canRead.set(false);
    pass(Duration.ofMinutes(5));
    assertThat(history.shown(60, 0).path("at").size()).isEqualTo(2);
    canRead.set(true);
    assertThat(history.shown(60, 0).path("at").size()).isEqualTo(3);
    assertThat(history.shown(5, 0).path("at").size()).isEqualTo(1);
  }
}

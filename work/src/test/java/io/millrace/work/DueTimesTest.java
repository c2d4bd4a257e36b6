package io.millrace.work;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class DueTimesTest {
  private static final long SECOND = 1_000_000_000;

  private final DueTimes<String> times = new DueTimes<>();

  @Test
  void each_key_is_due_once_its_time_has_come_and_not_again() {
    times.add("a", Duration.ofSeconds(2), 0);
    times.add("b", Duration.ofSeconds(1), 0);
    assertThat(times.waitNanos(0)).isBetween(SECOND, SECOND + 30_000_000);
    assertThat(times.due(SECOND - 1)).isEmpty();
    assertThat(times.due(SECOND + 30_000_000)).containsExactly("b");
    assertThat(times.due(3 * SECOND)).containsExactly("a");
    assertThat(times.due(9 * SECOND)).isEmpty();
    assertThat(times.waitNanos(9 * SECOND)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void a_key_with_more_times_than_are_kept_is_asked_for_after_the_last_of_them() {
    for (int i = 2 * DueTimes.MOST; i > 0; i--) {
      times.add("a", Duration.ofSeconds(i), 0);
    }
    assertThat(times.due((DueTimes.MOST - 1) * SECOND)).containsExactly("a");
    assertThat(times.takeUnread()).isEmpty();
    assertThat(times.due((DueTimes.MOST + 1) * SECOND)).containsExactly("a");
    assertThat(times.takeUnread()).containsExactly("a");
    assertThat(times.takeUnread()).isEmpty();
  }

  @Test
  void a_key_of_which_the_store_has_more_is_asked_for_too() {
    times.expect("a", new DelayedTasks.Delays(List.of(Duration.ofSeconds(1)), true), 0);
    times.expect("b", new DelayedTasks.Delays(List.of(Duration.ofSeconds(1)), false), 0);
    assertThat(times.due(2 * SECOND)).containsExactlyInAnyOrder("a", "b");
    assertThat(times.takeUnread()).containsExactly("a");
  }

  @RepeatedTest(20)
  void nothing_is_due_too_early_or_later_than_a_fiftieth_of_a_second() {
    Random random = new Random();
    List<Long> due = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      long millis = random.nextInt(5_000);
      due.add(millis * 1_000_000);
      times.add("k" + i, Duration.ofMillis(millis), 0);
    }
    Set<String> seen = new HashSet<>();
    long now = 0;
    for (long wait = times.waitNanos(now); wait < Long.MAX_VALUE; wait = times.waitNanos(now)) {
      now += wait;
      for (String key : times.due(now)) {
        assertThat(seen.add(key)).isTrue();
        assertThat(now - due.get(Integer.parseInt(key.substring(1)))).isBetween(1L, 20_000_000L);
      }
    }
    assertThat(seen).hasSize(200);
  }
}

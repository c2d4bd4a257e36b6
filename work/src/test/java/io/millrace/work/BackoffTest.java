package io.millrace.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static final Duration FIRST = Duration.ofMillis(50);

  private final Backoff backoff = new Backoff(FIRST, Duration.ofMillis(300));

  @Test
  void each_pause_is_twice_as_long_as_the_one_before_up_to_the_longest() {
    assertThat(backoff.next()).isEqualTo(FIRST);
    assertThat(backoff.next().toMillis()).isEqualTo(100);
    assertThat(backoff.next().toMillis()).isEqualTo(200);
    assertThat(backoff.next().toMillis()).isEqualTo(300);
    assertThat(backoff.next().toMillis()).isEqualTo(300);
  }

  @Test
  void until_there_is_an_answer_the_pause_in_which_an_outage_ends_is_a_small_part_of_it() {
    Backoff slow = Backoff.untilAnswered(Duration.ofMillis(20), Duration.ofSeconds(1));
    long outage = 0;
    Duration pause = slow.next();
    for (int i = 0; pause.toSeconds() < 1; i++) {
      outage += pause.toNanos();
      pause = slow.next();
      assertThat((double) pause.toNanos() / outage).isLessThan(i < 5 ? 1.3 : 0.4);
    }
    assertThat(outage).isBetween(3_000_000_000L, 5_000_000_000L);
  }

  @Test
  void after_a_success_it_begins_anew() {
    assertThat(backoff.succeeded()).isFalse();
    var _ = backoff.next();
    var _ = backoff.next();
    assertThat(backoff.hasFailed()).isTrue();

    assertThat(backoff.succeeded()).isTrue();

    assertThat(backoff.hasFailed()).isFalse();
    assertThat(backoff.next()).isEqualTo(FIRST);
  }

  @Test
  void a_random_pause_is_from_half_of_it_to_one_and_a_half_of_it() {
    Random random = new Random(1);
    for (int i = 0; i < 1_000; i++) {
      assertThat(backoff.next(random))
          .isGreaterThanOrEqualTo(FIRST.dividedBy(2))
          .isLessThan(FIRST.multipliedBy(3).dividedBy(2));
      backoff.succeeded();
    }
  }

  @Test
  void pauses_that_make_no_sense_are_refused() {
    assertThatThrownBy(() -> new Backoff(Duration.ZERO, FIRST))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Backoff(FIRST, Duration.ofMillis(49)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}

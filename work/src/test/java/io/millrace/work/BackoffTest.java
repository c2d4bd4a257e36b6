package io.millrace.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
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
  void pauses_that_make_no_sense_are_refused() {
    assertThatThrownBy(() -> new Backoff(Duration.ZERO, FIRST))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Backoff(FIRST, Duration.ofMillis(49)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}

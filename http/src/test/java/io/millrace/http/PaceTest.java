package io.millrace.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How fast a body must come. */
final class PaceTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final RequestBody.Pace pace = new RequestBody.Pace(Duration.ofSeconds(10), 100);

  @Test
  void a_body_at_the_minimum_rate_may_go_on_for_ever() {
    for (int i = 0; i < 1_000; i++) {
      assertThat(pace.waited(SECOND, 101)).isTrue();
    }
  }

  @Test
  void a_window_with_too_few_bytes_is_the_end() {
    for (int i = 0; i < 9; i++) {
      assertThat(pace.waited(SECOND, 99)).isTrue();
    }
    assertThat(pace.leftNanos()).isEqualTo(SECOND);
    assertThat(pace.waited(SECOND, 99)).isFalse();
  }

  @Test
  void what_came_quickly_before_is_no_excuse_later() {
    assertThat(pace.waited(SECOND, 1_000_000)).isTrue();
    assertThat(pace.waited(10 * SECOND, 0)).isFalse();
  }

  @Test
  void without_a_minimum_any_rate_will_do() {
    RequestBody.Pace any = new RequestBody.Pace(Duration.ofSeconds(10), 0);
    assertThat(any.waited(1_000 * SECOND, 0)).isTrue();
    assertThat(any.leftNanos()).isEqualTo(Long.MAX_VALUE);
  }
}

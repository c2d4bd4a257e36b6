package io.millrace.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How long guesses have to wait. */
final class FailedAttemptsTest {
  private static final Duration LONGEST = Duration.ofSeconds(60);

  private final FailedAttempts<String> attempts = new FailedAttempts<>(3, LONGEST);

  /** Fails as soon as it may, and returns how long it took. */
  private long fail(String source, int times) {
    long now = 0;
    for (int i = 0; i < times; i++) {
      now += attempts.waitMillis(source, now);
      attempts.failed(source, i, now);
    }
    return now;
  }

  @Test
  void the_wait_doubles_after_the_free_failures_up_to_its_limit() {
    assertThat(fail("a", 4)).isZero();
    assertThat(attempts.waitMillis("a", 0)).isEqualTo(1_000);
    assertThat(fail("b", 7)).isEqualTo(1_000 + 2_000 + 4_000);
    assertThat(fail("c", 100)).isGreaterThan(90 * LONGEST.toMillis());
    assertThat(attempts.waitMillis("d", 0)).isZero();
  }

  @Test
  void a_source_is_forgotten_some_time_after_its_last_failure() {
    long now = fail("a", 9);
    long later = now + Duration.ofMinutes(16).toMillis();
    attempts.failed("a", 100, later);
    assertThat(attempts.waitMillis("a", later)).isZero();
  }

  @Test
  void success_is_forgiveness() {
    long now = fail("a", 9);
    attempts.succeeded("a");
    assertThat(attempts.waitMillis("a", now)).isZero();
  }

  @Test
  void many_sources_take_no_more_memory_and_the_latest_are_known() {
    for (int i = 0; i < 100_000; i++) {
      attempts.failed("address " + i, 1, 0);
      if (i % 1_000 == 0) {
        // The one that goes on is not driven out by the others.
        attempts.failed("guesser", i, 0);
      }
    }
    assertThat(attempts.size()).isEqualTo(10_000);
    assertThat(attempts.waitMillis("guesser", 0)).isEqualTo(LONGEST.toMillis());
  }
}

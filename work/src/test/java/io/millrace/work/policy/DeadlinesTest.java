package io.millrace.work.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When work is over time. */
class DeadlinesTest {
  private static Deadlines deadlines(String settings, long runnableMillis) {
    return Deadlines.of(Policy.parse(settings), runnableMillis);
  }

  @Test
  void work_without_limits_may_take_any_time() {
    Deadlines none = Deadlines.of(Policies.of("timeout", "5s"), 1_000);
    assertThat(none).isEqualTo(Deadlines.NONE);
    assertThat(none.waiting(5).restarted(6)).isEqualTo(Deadlines.NONE);
    assertThat(none.next(true)).isZero();
    assertThat(none.exceeded(true, Long.MAX_VALUE)).isEmpty();
    assertThat(none.attemptMillis(0, 7)).isZero();
    assertThat(none.attemptMillis(70, 7)).isEqualTo(70);
  }

  @Test
  void a_wait_counts_from_when_an_attempt_can_start_and_anew_before_each() {
    Deadlines first = deadlines("wait_timeout=5s", 1_000);
    assertThat(first.next(true)).isEqualTo(6_000);
    assertThat(first.next(false)).isZero();
    assertThat(first.exceeded(true, 5_999)).isEmpty();
    assertThat(first.exceeded(true, 6_000))
        .contains("it waited longer than its wait_timeout of 5s");
    assertThat(first.exceeded(false, 1_000_000)).isEmpty();
    assertThat(first.waiting(9_000).next(true)).isEqualTo(14_000);
  }

  @Test
  void the_whole_counts_from_the_first_time_whatever_the_work_does() {
    Deadlines whole = deadlines("total_timeout=1m wait_timeout=50s", 0).waiting(30_000);
    assertThat(whole.next(true)).isEqualTo(60_000);
    assertThat(whole.next(false)).isEqualTo(60_000);
    for (boolean waits : new boolean[] {true, false}) {
      assertThat(whole.exceeded(waits, 60_000))
          .contains("it took longer than its total_timeout of 1m");
    }
    assertThat(whole.attemptMillis(0, 45_000)).isEqualTo(15_000);
    assertThat(whole.attemptMillis(20_000, 45_000)).isEqualTo(15_000);
    assertThat(whole.attemptMillis(10_000, 45_000)).isEqualTo(10_000);
    assertThat(whole.attemptMillis(10_000, 70_000)).isEqualTo(1);
    assertThat(whole.restarted(100_000).next(false)).isEqualTo(160_000);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void work_is_over_time_exactly_from_its_next_deadline_on(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      String settings =
          switch (random.nextInt(3)) {
            case 0 -> "wait_timeout=" + random.nextInt(1, 50) + "ms";
            case 1 -> "total_timeout=" + random.nextInt(1, 50) + "ms";
            default -> "wait_timeout=" + random.nextInt(1, 50) + "ms total_timeout=20ms";
          };
      Deadlines some = deadlines(settings, 1 + random.nextInt(50));
      for (int steps = random.nextInt(3); steps > 0; steps--) {
        long runnable = 1L + random.nextInt(100);
        some = random.nextBoolean() ? some.waiting(runnable) : some.restarted(runnable);
      }
      boolean waits = random.nextBoolean();
      long now = random.nextInt(200);
      long next = some.next(waits);
      assertThat(some.exceeded(waits, now).isPresent())
          .as("%s at %s", some, now)
          .isEqualTo(next > 0 && next <= now);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0s", "soon", "-1s", "9999999999d"})
  void a_limit_is_a_duration_longer_than_zero(String text) {
    for (String field : new String[] {"timeout", "wait_timeout", "total_timeout"}) {
      assertThatThrownBy(() -> Policies.of(field, text))
          .isInstanceOf(PolicyException.class)
          .hasMessageStartingWith(field + " must be");
    }
  }
}

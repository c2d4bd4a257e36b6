package io.millrace.work.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.environment.DurationText;
import io.millrace.work.policy.RetryPolicy.Failed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryPolicyTest {
  private static final Random RANDOM = new Random(1);

  private static RetryPolicy policy(String... fieldsAndTexts) {
    return Policies.of(fieldsAndTexts).retries();
  }

  private static List<Duration> pauses(RetryPolicy policy) {
    List<Duration> pauses = new ArrayList<>();
    for (int failures = 1; ; failures++) {
      Optional<Duration> pause = policy.retry(failures, Failed.UNKNOWN, RANDOM);
      if (pause.isEmpty()) {
        return pauses;
      }
      pauses.add(pause.get());
    }
  }

  @Test
  void without_settings_nothing_is_tried_again() {
    assertThat(pauses(Policy.NONE.retries())).isEmpty();
  }

  @Test
  void pauses_double_up_to_the_longest() {
    RetryPolicy policy =
        policy("attempts", "6", "retry_delay", "1s", "retry_max_delay", "5s", "retry_jitter", "0");
    assertThat(pauses(policy)).extracting(Duration::toSeconds).containsExactly(1L, 2L, 4L, 5L, 5L);
  }

  @Test
  void a_factor_of_one_makes_all_pauses_equal() {
    RetryPolicy policy =
        policy("attempts", "4", "retry_delay", "3s", "retry_factor", "1", "retry_jitter", "0");
    assertThat(pauses(policy)).extracting(Duration::toSeconds).containsExactly(3L, 3L, 3L);
  }

  @Test
  void a_list_of_pauses_is_used_in_order_and_its_last_one_repeated() {
    RetryPolicy policy = policy("attempts", "5", "retry_delay", "1s,1m, 10m", "retry_jitter", "0");
    assertThat(pauses(policy)).extracting(Duration::toSeconds).containsExactly(1L, 60L, 600L, 600L);
  }

  @Test
  void the_thousandth_pause_is_the_longest_and_not_an_overflow() {
    RetryPolicy policy = policy("attempts", "10000", "retry_factor", "1000", "retry_jitter", "0");
    assertThat(policy.pause(9_999)).isEqualTo(Duration.ofHours(1));
  }

  @Test
  void a_failure_may_say_that_it_is_not_to_be_tried_again_or_when() {
    RetryPolicy policy = policy("attempts", "3", "retry_except", "64, no-such-file");
    assertThat(policy.retry(1, new Failed("64", null), RANDOM)).isEmpty();
    assertThat(policy.retry(1, new Failed("no-such-file", Duration.ZERO), RANDOM)).isEmpty();
    assertThat(policy.retry(1, new Failed("65", Duration.ofMinutes(7)), RANDOM))
        .contains(Duration.ofMinutes(7));
    assertThat(policy.retry(3, new Failed("65", Duration.ofMinutes(7)), RANDOM)).isEmpty();
    assertThat(policy.retry(1, new Failed(null, Duration.ofDays(1_000_000)), RANDOM))
        .contains(TimeText.LONGEST);
  }

  @RepeatedTest(50)
  void jitter_stays_within_its_part_and_the_number_of_attempts_is_exact() {
    Random random = new Random();
    int attempts = random.nextInt(1, 30);
    double jitter = random.nextInt(0, 11) / 10.0;
    RetryPolicy policy =
        policy(
            "attempts", Integer.toString(attempts),
            "retry_delay", random.nextInt(1, 100_000) + "ms",
            "retry_factor", Integer.toString(random.nextInt(1, 4)),
            "retry_max_delay", "100s",
            "retry_jitter", Double.toString(jitter));
    List<Duration> pauses = pauses(policy);
    assertThat(pauses).hasSize(attempts - 1);
    for (int i = 0; i < pauses.size(); i++) {
      long exact = policy.pause(i + 1).toMillis();
      assertThat((double) pauses.get(i).toMillis())
          .isBetween(exact * (1 - jitter) - 1, Math.min(exact * (1 + jitter) + 1, 100_000));
    }
  }

  @Test
  void what_has_snoozed_often_enough_may_not_snooze_again() {
    assertThat(policy("snoozes", "2").maySnooze(1)).isTrue();
    assertThat(policy("snoozes", "2").maySnooze(2)).isFalse();
    assertThat(policy("snoozes", "0").maySnooze(0)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "attempts, 0",
    "attempts, -1",
    "attempts, 1.5",
    "attempts, 10001",
    "attempts, many",
    "snoozes, -1",
    "retry_delay, soon",
    "retry_delay, 10",
    "retry_delay, -1s",
    "retry_delay, '1s,'",
    "retry_delay, 4000d",
    "retry_max_delay, 1w",
    "retry_factor, 0.5",
    "retry_factor, 1e3",
    "retry_factor, NaN",
    "retry_jitter, 1.1",
    "retry_except, 'a,,b'",
    "retry_except, 'a b'",
    "attemps, 3",
  })
  void a_value_that_is_invalid_is_refused_by_name(String field, String text) {
    assertThatThrownBy(() -> Policies.of(field, text))
        .isInstanceOfSatisfying(PolicyException.class, e -> assertThat(e.field()).isEqualTo(field))
        .hasMessageContaining(field);
  }

  @Test
  void the_settings_of_a_task_are_laid_over_those_of_its_queue() {
    Policy queue = Policies.of("attempts", "5", "retry_delay", "1m");
    Policy task = Policies.of("attempts", "2");
    assertThat(task.over(queue).fields()).isEqualTo(Map.of("attempts", "2", "retry_delay", "1m"));
    assertThat(Policy.NONE.over(queue)).isEqualTo(queue);
    assertThat(task.over(Policy.NONE)).isEqualTo(task);
    assertThat(queue.with(Map.of("attempts", "", "snoozes", "3")).fields())
        .isEqualTo(Map.of("retry_delay", "1m", "snoozes", "3"));
    assertThat(task.with(Map.of("attempts", ""))).isEqualTo(Policy.NONE);
  }

  @ParameterizedTest
  @CsvSource({"500ms, 500", "30s, 30000", "5m, 300000", "2h, 7200000", "1d, 86400000", "0s, 0"})
  void durations_are_read_and_shown_alike(String text, long millis) {
    assertThat(TimeText.duration("x", text)).isEqualTo(Duration.ofMillis(millis));
    assertThat(DurationText.show(Duration.ofMillis(millis))).isEqualTo(text);
  }
}

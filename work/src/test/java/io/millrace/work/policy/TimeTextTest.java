package io.millrace.work.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeTextTest {
  @ParameterizedTest
  @CsvSource({
    "0s, PT0S",
    "500ms, PT0.5S",
    "1.5h, PT1H30M",
    "30 s, PT30S",
    "7d, PT168H",
    "0.000001ms, PT0.000000001S",
    "999999999d, PT23999999976H"
  })
  void a_duration_is_a_number_and_a_unit(String text, Duration expected) {
    assertThat(TimeText.parse(text)).contains(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "s", "-5s", "1,5h", "1.h", "5 w", "5S", "99999999999999s"})
  void anything_else_is_none(String text) {
    assertThat(TimeText.parse(text)).isEmpty();
  }

  @Test
  void the_longest_number_of_the_longest_unit_is_a_duration() {
    assertThat(TimeText.parse("9999999999999d")).isPresent();
  }
}

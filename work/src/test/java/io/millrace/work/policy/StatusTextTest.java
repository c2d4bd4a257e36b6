package io.millrace.work.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatusTextTest {
  @Test
  void a_status_a_failure_with_a_delay_and_a_snooze_are_read() {
    assertThat(StatusText.parse(" 7\n")).contains(new StatusText(7, null, false));
    assertThat(StatusText.parse("2 30m"))
        .contains(new StatusText(StatusText.FAILED, Duration.ofMinutes(30), false));
    assertThat(StatusText.parse("snooze\t1.5s\n"))
        .contains(new StatusText(StatusText.FAILED, Duration.ofMillis(1_500), true));
    assertThat(StatusText.parse("2147483647")).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0",
        "-1",
        "1.5",
        "x",
        "snooze",
        "snooze soon",
        "1 5m",
        "2 soon",
        "2 5m 6m",
        "2147483648",
        "99999999999999",
        "snooze 3651d"
      })
  void anything_else_is_refused(String text) {
    assertThat(StatusText.parse(text)).isEmpty();
  }

  @Test
  void a_long_content_is_cut_for_messages() {
    assertThat(StatusText.shown(" x ")).isEqualTo("x");
    assertThat(StatusText.shown("x".repeat(100))).hasSize(81);
  }
}

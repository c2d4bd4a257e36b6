package io.millrace.store.environment;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DurationTextTest {
  @ParameterizedTest
  @CsvSource({
    "PT0S, 0s",
    "PT0.5S, 500ms",
    "PT1S, 1s",
    "PT1.5S, 1.5s",
    "PT10S, 10s",
    "PT61.001S, 61.001s",
    "PT1M, 1m",
    "PT90M, 90m",
    "PT2H, 2h",
    "PT48H, 2d",
    "PT-1.5S, -1.5s"
  })
  void a_duration_is_shown_as_a_number_and_a_unit(Duration duration, String text) {
    assertThat(DurationText.show(duration)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"PT71H58M59S, 71h", "PT9H59M1S, 599m", "PT72H, 3d", "PT9.5S, 9.5s", "PT1000H, 41d"})
  void a_long_duration_is_shown_without_what_does_not_matter(Duration duration, String text) {
    assertThat(DurationText.about(duration)).isEqualTo(text);
  }
}

package io.millrace.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.http.message.HttpException;
import org.junit.jupiter.api.Test;

/** How many connections the limit of open files allows. */
final class HttpLimitsTest {
  @Test
  void a_quarter_of_the_files_and_at_least_64_stay_free() {
    assertThat(HttpLimits.connections(10_000, 1_024, 100)).isEqualTo(1_024 - 256 - 100);
    assertThat(HttpLimits.connections(10_000, 200, 50)).isEqualTo(200 - 64 - 50);
    assertThat(HttpLimits.connections(10_000, 1_000_000, 100)).isEqualTo(10_000);
  }

  @Test
  void a_lower_configured_limit_counts() {
    assertThat(HttpLimits.connections(5, 1_024, 100)).isEqualTo(5);
    assertThat(HttpLimits.connections(5, 174, 105)).isEqualTo(5);
  }

  @Test
  void too_few_files_are_refused_with_what_is_needed() {
    assertThatThrownBy(() -> HttpLimits.connections(10_000, 150, 80))
        .isInstanceOf(HttpException.class)
        .hasMessageContainingAll(
            "open files is 150", "80 are open", "64 are reserved", "ulimit -n");
  }
}

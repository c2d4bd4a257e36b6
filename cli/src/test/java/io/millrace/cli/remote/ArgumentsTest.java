package io.millrace.cli.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cli.terminal.UsageException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArgumentsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "5|5",
        "-1.10|-1.10",
        "12345678901234567890123|12345678901234567890123",
        "true|true",
        "null|null",
        "[1,\"a\"]|[1,\"a\"]",
        "{\"a\":{}}|{\"a\":{}}",
        "\"5\"|\"5\"",
        "hello|\"hello\"",
        "007|\"007\"",
        "1 2|\"1 2\"",
        "[1|\"[1\"",
        "NaN|\"NaN\"",
        "``|\"\"",
        "a=b|\"a=b\"",
        "wörk|\"wörk\"",
      })
  void a_value_that_is_json_is_json_and_another_is_text(String text, String json) {
    assertThat(Arguments.object(List.of("k=" + text)).path("k")).hasToString(json);
  }

  @ParameterizedTest
  @ValueSource(strings = {"k", "=v", ""})
  void a_pair_needs_a_key_and_an_equals_sign(String pair) {
    assertThatThrownBy(() -> Arguments.object(List.of(pair)))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("'" + pair + "'");
  }

  @Test
  void a_key_comes_once() {
    assertThatThrownBy(() -> Arguments.object(List.of("a=1", "a=2")))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("twice");
  }

  @Test
  void no_limit_is_none() {
    assertThat(Arguments.limit("--threads", "none").isNull()).isTrue();
    assertThat(Arguments.limit("--threads", "0").asInt()).isZero();
    for (String wrong : List.of("-1", "many", "", "1.5", "99999999999")) {
      assertThatThrownBy(() -> Arguments.limit("--threads", wrong))
          .isInstanceOf(UsageException.class)
          .hasMessageContaining("--threads");
    }
  }
}

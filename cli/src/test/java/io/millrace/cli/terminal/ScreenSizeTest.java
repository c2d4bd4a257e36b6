package io.millrace.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScreenSizeTest {
  @Test
  void rows_and_columns_are_read() {
    assertThat(ScreenSize.read("50 132\n")).isEqualTo(new ScreenSize(50, 132));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0 0", "50", "a b", "50 132 1", "-1 80"})
  void what_is_no_size_becomes_the_usual_one(String text) {
    assertThat(ScreenSize.read(text)).isEqualTo(new ScreenSize(24, 80));
  }
}

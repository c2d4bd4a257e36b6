package io.millrace.store.kernel.records;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HistoryTest {
  @Test
  void a_position_belongs_to_the_past_up_to_where_its_history_was_left() {
    History history = History.begin(7).fork(8, 100).fork(9, 90);

    assertThat(history.id()).isEqualTo(9);
    assertThat(history.includes(9, 1_000)).isTrue();
    assertThat(history.includes(8, 90)).isTrue();
    assertThat(history.includes(8, 91)).isFalse();
    assertThat(history.includes(7, 90)).isTrue();
    assertThat(history.includes(7, 95)).as("left at 100, but 8 was left at 90").isFalse();
    assertThat(history.includes(6, 1)).isFalse();
  }
}

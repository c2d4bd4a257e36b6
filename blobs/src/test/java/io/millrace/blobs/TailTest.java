package io.millrace.blobs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TailTest {
  @Test
  void the_last_text_is_all_of_a_short_tail_without_white_space_around_it() {
    assertThat(Tail.of("\n one\ntwo \n").lastText(100)).isEqualTo("one\ntwo");
    assertThat(Tail.of(" \n").lastText(100)).isNull();
    assertThat(Tail.of("").lastText(100)).isNull();
  }

  @Test
  void the_last_text_of_a_long_tail_begins_with_a_whole_character() {
    assertThat(Tail.of("abcdef").lastText(3)).isEqualTo("…def");
    assertThat(Tail.of("ab漢字").lastText(5)).isEqualTo("…字");
    assertThat(Tail.of("ab漢字").lastText(6)).isEqualTo("…漢字");
  }
}

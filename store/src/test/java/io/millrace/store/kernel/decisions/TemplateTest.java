package io.millrace.store.kernel.decisions;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TemplateTest {
  private static String filled(String template) {
    return DocumentDecision.Template.fill(Bytes.of(template), name -> "<" + name + ">").utf8();
  }

  @ParameterizedTest
  @CsvSource({
    "nothing, nothing",
    "{{a}}, <a>",
    "x{{a}}y{{b}}z, x<a>y<b>z",
    "{{ä}}€{{a}}, <ä>€<a>",
    "{{}}, <>",
    "{{{a}}}, <{a>}",
    "{a} {{open, {a} {{open",
    "a}} {{b}}, a}} <b>",
    "{{a}, {{a}",
    "'', ''",
    "{, {"
  })
  void names_in_double_braces_are_replaced(String template, String expected) {
    assertThat(filled(template)).isEqualTo(expected);
  }

  @Test
  void what_takes_more_room_than_its_name_has_it() {
    String many = "{{a}}".repeat(1_000);
    assertThat(DocumentDecision.Template.fill(Bytes.of(many), _ -> "1234567890123456").size())
        .isEqualTo(16_000);
  }

  @Test
  void bytes_that_are_no_text_stay_as_they_are() {
    byte[] odd = {(byte) 0xff, '{', '{', 'a', '}', '}', (byte) 0xc0};
    assertThat(DocumentDecision.Template.fill(Bytes.copyOf(odd), _ -> "7"))
        .isEqualTo(Bytes.from(ByteBuffer.wrap(new byte[] {(byte) 0xff, '7', (byte) 0xc0})));
  }
}

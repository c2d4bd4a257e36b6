package io.millrace.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The check of bytes, held against the decoder of the platform. */
final class Utf8Test {
  private final CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();

  private void hasTheMistakeThatTheDecoderFinds(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    boolean wrong =
        decoder.reset().decode(in, CharBuffer.allocate(bytes.length), true).isMalformed();
    assertThat(Utf8.firstInvalid(bytes)).as(() -> hex(bytes)).isEqualTo(wrong ? in.position() : -1);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  @Test
  void every_pair_of_bytes_is_judged_as_by_the_decoder() {
    for (int pair = 0; pair < 1 << 16; pair++) {
      hasTheMistakeThatTheDecoderFinds(new byte[] {(byte) (pair >> 8), (byte) pair});
    }
  }

  @Test
  void the_edges_of_longer_characters_are_judged_as_by_the_decoder() {
    int[] edges = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    for (int lead = 0xe0; lead < 0x100; lead++) {
      for (int second : edges) {
        for (int third : edges) {
          for (int fourth : edges) {
            hasTheMistakeThatTheDecoderFinds(
                new byte[] {(byte) lead, (byte) second, (byte) third, (byte) fourth});
          }
        }
      }
    }
  }

  @Test
  void one_wrong_byte_anywhere_in_a_text_is_found() {
    SplittableRandom random = new SplittableRandom(1);
    byte[] text =
        "{\"data\": \"plain, ü, ☃ and 𝄞, then plain for a while\"}"
            .repeat(3)
            .getBytes(StandardCharsets.UTF_8);
    assertThat(Utf8.firstInvalid(text)).isEqualTo(-1);
    for (int place = 0; place < text.length; place++) {
      for (int i = 0; i < 8; i++) {
        byte[] changed = text.clone();
        changed[place] = (byte) random.nextInt();
        hasTheMistakeThatTheDecoderFinds(changed);
      }
    }
    assertThat(Utf8.firstInvalid(new byte[0])).isEqualTo(-1);
  }

  @Test
  void a_mistake_is_told_with_its_byte_and_its_place() {
    assertThat(Utf8.error(new byte[] {'"', 'a', (byte) 0xc0, (byte) 0xaf, '"'}))
        .isEqualTo("is not UTF-8: byte 0xc0 at offset 2");
    assertThat(Utf8.error("{}".getBytes(StandardCharsets.UTF_16LE)))
        .isEqualTo("is not UTF-8 text: a zero byte at offset 1, as in UTF-16 or UTF-32");
    assertThat(Utf8.error("{}".getBytes(StandardCharsets.UTF_16)))
        .isEqualTo("is not UTF-8 text: a zero byte at offset 2, as in UTF-16 or UTF-32");
    assertThat(Utf8.error("☃".getBytes(StandardCharsets.UTF_16)))
        .isEqualTo("is not UTF-8: byte 0xfe at offset 0");
    assertThat(Utf8.error("{\"ü\":1}".getBytes(StandardCharsets.UTF_8))).isNull();
  }
}

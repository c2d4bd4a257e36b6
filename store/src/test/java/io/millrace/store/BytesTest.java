package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class BytesTest {
  @Test
  void two_bytes_are_found_wherever_they_are() {
    Random random = new Random(1);
    byte[] letters = {'a', 'b', 'A', 'B', 0, 1, (byte) 0x80, (byte) 0xff, '@', '`', '!'};
    int found = 0;
    for (int i = 0; i < 50_000; i++) {
      byte[] content = new byte[random.nextInt(40)];
      for (int j = 0; j < content.length; j++) {
        content[j] = letters[random.nextInt(letters.length)];
      }
      byte first = letters[random.nextInt(letters.length)];
      byte second = letters[random.nextInt(letters.length)];
      boolean anyCase = Character.toLowerCase(first) == first && random.nextBoolean();
      if (anyCase && second >= 'A' && second <= 'Z') {
        continue;
      }
      int from = random.nextInt(content.length + 2);
      int expected = -1;
      for (int at = content.length - 2; at >= from; at--) {
        if (is(content[at], first, anyCase) && is(content[at + 1], second, anyCase)) {
          expected = at;
        }
      }
      assertThat(Bytes.copyOf(content).indexOf(first, second, anyCase, from)).isEqualTo(expected);
      found += expected < 0 ? 0 : 1;
    }
    assertThat(found).isGreaterThan(2_000);
  }

  private static boolean is(byte b, byte wanted, boolean anyCase) {
    return b == wanted || (anyCase && wanted >= 'a' && wanted <= 'z' && b == wanted - 'a' + 'A');
  }

  @Test
  void ascii_is_told_from_other_text() {
    assertThat(Bytes.EMPTY.isAscii()).isTrue();
    assertThat(Bytes.of("plain\u007f").isAscii()).isTrue();
    assertThat(Bytes.of("a\u00e4b").isAscii()).isFalse();
    assertThat(Bytes.of("ab").at(1)).isEqualTo((byte) 'b');
  }
}

package io.millrace.server.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Percent-encoded text of paths and queries, read strictly: UTF-8 or a problem. */
final class PercentText {
  private PercentText() {}

  /**
   * The text that {@code raw[begin, end)} stands for.
   *
   * @param plusIsSpace whether a plus sign is a space, as in queries
   * @throws HttpProblem 400 for a broken escape or bytes that are not UTF-8
   */
  static String decode(String raw, int begin, int end, boolean plusIsSpace) {
    for (int i = begin; i < end; i++) {
      char letter = raw.charAt(i);
      if (letter == '%' || (plusIsSpace && letter == '+')) {
        return decodeEscaped(raw, begin, end, plusIsSpace);
      }
      checkPlain(letter);
    }
    return raw.substring(begin, end);
  }

  private static void checkPlain(char letter) {
    if (letter <= ' ' || letter > '~') {
      throw HttpProblem.malformed("the path or query has a character that must be percent-encoded");
    }
  }

  private static String decodeEscaped(String raw, int begin, int end, boolean plusIsSpace) {
    ByteBuffer bytes = ByteBuffer.allocate(end - begin);
    for (int i = begin; i < end; i++) {
      char letter = raw.charAt(i);
      if (letter == '%') {
        if (i + 2 >= end) {
          throw HttpProblem.malformed("a percent sign of the path or query lacks its two digits");
        }
        int high = Character.digit(raw.charAt(i + 1), 16);
        int low = Character.digit(raw.charAt(i + 2), 16);
        if (high < 0 || low < 0) {
          throw HttpProblem.malformed(
              "not a percent escape in the path or query: " + raw.substring(i, i + 3));
        }
        bytes.put((byte) (high << 4 | low));
        i += 2;
      } else {
        checkPlain(letter);
        bytes.put((byte) (plusIsSpace && letter == '+' ? ' ' : letter));
      }
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
    } catch (CharacterCodingException e) {
      throw HttpProblem.malformed("the path or query is not UTF-8: " + raw.substring(begin, end));
    }
  }
}

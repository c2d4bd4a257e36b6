package io.millrace.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Request bodies of old clients that post their JSON as a form field. */
final class FormBody {
  private FormBody() {}

  /**
   * The JSON of a body: the body itself, or the value of {@code field} if the body is a form. Told
   * apart by content, since curl calls everything a form.
   */
  static byte[] json(byte[] body, String field) {
    if (!startsLikeForm(body)) {
      return body;
    }
    byte[] start = (field + "=").getBytes(StandardCharsets.US_ASCII);
    byte @Nullable [] json = null;
    int begin = 0;
    while (begin <= body.length) {
      int end = indexOf(body, '&', begin);
      if (startsWith(body, begin, end, start)) {
        if (json != null) {
          throw new WireException("the form field " + field + " comes twice");
        }
        json = decoded(Arrays.copyOfRange(body, begin + start.length, end), field);
      }
      begin = end + 1;
    }
    if (json == null) {
      throw new WireException("expected a JSON object or the form field " + field);
    }
    return json;
  }

  /** What the value of the field stands for, byte by byte. */
  private static byte[] decoded(byte[] value, String field) {
    int length = 0;
    for (int i = 0; i < value.length; i++) {
      byte one = value[i];
      if (one == '%') {
        int high = i + 2 < value.length ? Character.digit(value[i + 1], 16) : -1;
        int low = i + 2 < value.length ? Character.digit(value[i + 2], 16) : -1;
        if (high < 0 || low < 0) {
          throw new WireException(
              "the form field " + field + " has % without two hexadecimal digits at offset " + i);
        }
        one = (byte) (high << 4 | low);
        i += 2;
      } else if (one == '+') {
        one = ' ';
      }
      value[length++] = one;
    }
    byte[] json = Arrays.copyOf(value, length);
    String mistake = Utf8.mistake(json);
    if (mistake != null) {
      throw new WireException("the form field " + field + ", decoded, " + mistake);
    }
    return json;
  }

  private static int indexOf(byte[] body, char wanted, int begin) {
    int place = begin;
    while (place < body.length && body[place] != wanted) {
      place++;
    }
    return place;
  }

  private static boolean startsWith(byte[] body, int begin, int end, byte[] start) {
    return end - begin >= start.length
        && Arrays.equals(body, begin, begin + start.length, start, 0, start.length);
  }

  private static boolean startsLikeForm(byte[] body) {
    for (byte one : body) {
      if (one > ' ') {
        return Character.isLetter(one)
            && new String(body, 0, Math.min(body.length, 4096), StandardCharsets.ISO_8859_1)
                .contains("=");
      }
    }
    return false;
  }
}

package io.millrace.bench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads the plain text of protocols out of buffers. */
final class Ascii {
  private Ascii() {}

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Where {@code sought} begins in what remains from {@code from} on; -1 where it does not. */
  static int find(ByteBuffer buffer, int from, byte[] sought) {
    int last = buffer.limit() - sought.length;
    for (int at = from; at <= last; at++) {
      int i = 0;
      while (i < sought.length && buffer.get(at + i) == sought[i]) {
        i++;
      }
      if (i == sought.length) {
        return at;
      }
    }
    return -1;
  }

  /** The decimal number that begins at {@code at}, after spaces. */
  static long number(ByteBuffer buffer, int at) {
    int place = at;
    while (place < buffer.limit() && buffer.get(place) == ' ') {
      place++;
    }
    long value = 0;
    while (place < buffer.limit()) {
      int digit = buffer.get(place) - '0';
      if (digit < 0 || digit > 9) {
        break;
      }
      value = value * 10 + digit;
      place++;
    }
    return value;
  }

  /** What remains, cut after 200 characters: for messages. */
  static String show(ByteBuffer buffer) {
    ByteBuffer rest = buffer.duplicate();
    rest.limit(Math.min(rest.limit(), rest.position() + 200));
    return StandardCharsets.UTF_8.decode(rest).toString();
  }
}

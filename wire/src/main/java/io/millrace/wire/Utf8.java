package io.millrace.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The strict rules of UTF-8: neither overlong forms nor halves of surrogate pairs nor anything
 * beyond U+10FFFF. Readers of JSON take such bytes for other characters, and what a client sent
 * would be stored as something else.
 */
public final class Utf8 {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** The highest bit of each of eight bytes, which is clear in ASCII. */
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

  private Utf8() {}

  /**
   * The offset of the first byte sequence that is not UTF-8, from 0; -1 if there is none. Looks at
   * eight bytes at a time as long as they are ASCII.
   */
  public static int firstMistake(byte[] bytes) {
    int place = 0;
    while (true) {
      place = asciiEnd(bytes, place);
      if (place == bytes.length) {
        return -1;
      }
      int length = sequenceLength(bytes, place);
      if (length == 0) {
        return place;
      }
      place += length;
    }
  }

  /**
   * What is wrong with the bytes of a text, and where; null if nothing is wrong. A text that begins
   * like one in UTF-16 or UTF-32, by a zero among its first four bytes, is wrong too: the reader
   * would take it for that.
   *
   * @return words to follow the name of what has these bytes; the offset counts from 0
   */
  public static @Nullable String mistake(byte[] text) {
    for (int i = 0; i < Math.min(4, text.length); i++) {
      if (text[i] == 0) {
        return "is not UTF-8 text: a zero byte at offset " + i + ", as in UTF-16 or UTF-32";
      }
    }
    int place = firstMistake(text);
    return place < 0
        ? null
        : "is not UTF-8: byte 0x%02x at offset %d".formatted(text[place] & 0xff, place);
  }

  private static int asciiEnd(byte[] bytes, int begin) {
    int place = begin;
    while (place <= bytes.length - Long.BYTES
        && ((long) LONGS.get(bytes, place) & HIGH_BITS) == 0) {
      place += Long.BYTES;
    }
    while (place < bytes.length && bytes[place] >= 0) {
      place++;
    }
    return place;
  }

  /**
   * How many bytes the character at {@code place} has, which is not ASCII; 0 if it is malformed.
   */
  private static int sequenceLength(byte[] bytes, int place) {
    int lead = bytes[place] & 0xff;
    int length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || place + length > bytes.length) {
      return 0;
    }
    int second = bytes[place + 1] & 0xff;
    if (second < leastSecond(lead) || second > mostSecond(lead)) {
      return 0;
    }
    for (int i = 2; i < length; i++) {
      if ((bytes[place + i] & 0xc0) != 0x80) {
        return 0;
      }
    }
    return length;
  }

  /** What is below would be an overlong form. */
  private static int leastSecond(int lead) {
    return lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  }

  /** What is above would be half of a surrogate pair, or beyond U+10FFFF. */
  private static int mostSecond(int lead) {
    return lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  }
}

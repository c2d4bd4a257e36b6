package io.millrace.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A strict check of UTF-8, which allows neither overlong forms nor surrogates nor code points
 * beyond U+10FFFF. JSON parsers decode such bytes to other characters, so the store would keep
 * something else than the client sent.
 */
public final class Utf8 {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** The highest bit of each of eight bytes, which is clear in ASCII. */
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

  private Utf8() {}

  /**
   * The offset of the first byte sequence that is not UTF-8, counted from 0; -1 if there is none.
   * Checks eight bytes at a time as long as they are ASCII.
   */
  public static int firstInvalid(byte[] bytes) {
    int at = 0;
    while (true) {
      at = asciiEnd(bytes, at);
      if (at == bytes.length) {
        return -1;
      }
      int length = sequenceLength(bytes, at);
      if (length == 0) {
        return at;
      }
      at += length;
    }
  }

  /**
   * An error message if the bytes are not UTF-8; otherwise null. A zero among the first four bytes
   * is an error too: JSON parsers take such a text for UTF-16 or UTF-32.
   *
   * @return a predicate, for example {@code is not UTF-8: byte 0xc0 at offset 43}; offsets count
   *     from 0
   */
  public static @Nullable String error(byte[] text) {
    for (int i = 0; i < Math.min(4, text.length); i++) {
      if (text[i] == 0) {
        return "is not UTF-8 text: a zero byte at offset " + i + ", as in UTF-16 or UTF-32";
      }
    }
    int at = firstInvalid(text);
    return at < 0 ? null : "is not UTF-8: byte 0x%02x at offset %d".formatted(text[at] & 0xff, at);
  }

  private static int asciiEnd(byte[] bytes, int begin) {
    int at = begin;
    while (at <= bytes.length - Long.BYTES && ((long) LONGS.get(bytes, at) & HIGH_BITS) == 0) {
      at += Long.BYTES;
    }
    while (at < bytes.length && bytes[at] >= 0) {
      at++;
    }
    return at;
  }

  /** The length of the character at {@code at}, which is not ASCII; 0 if it is malformed. */
  private static int sequenceLength(byte[] bytes, int at) {
    int lead = bytes[at] & 0xff;
    int length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || at + length > bytes.length) {
      return 0;
    }
    int second = bytes[at + 1] & 0xff;
    if (second < minSecond(lead) || second > maxSecond(lead)) {
      return 0;
    }
    for (int i = 2; i < length; i++) {
      if ((bytes[at + i] & 0xc0) != 0x80) {
        return 0;
      }
    }
    return length;
  }

  /** The smallest second byte; a smaller one would be an overlong form. */
  private static int minSecond(int lead) {
    return lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  }

  /** The largest second byte; a larger one would be a surrogate, or beyond U+10FFFF. */
  private static int maxSecond(int lead) {
    return lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  }
}

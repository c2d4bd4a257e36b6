package io.millrace.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** An immutable sequence of bytes. Two are equal if they have the same content. */
public final class Bytes {
  /** The empty sequence. */
  public static final Bytes EMPTY = new Bytes(new byte[0]);

  /** Reads eight bytes as a number, the first as its lowest. */
  private static final VarHandle EIGHT =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Has 1 in each of its eight bytes. */
  private static final long ONE_EACH = 0x0101_0101_0101_0101L;

  /** What lower-case letters of ASCII have and upper-case ones have not. */
  private static final long LOWER_CASE = 0x20;

  private final byte[] content;

  private Bytes(byte[] content) {
    this.content = content;
  }

  /** A copy of {@code content}. */
  public static Bytes copyOf(byte[] content) {
    return content.length == 0 ? EMPTY : new Bytes(content.clone());
  }

  /** The text encoded as UTF-8; unpaired surrogates become question marks. */
  public static Bytes of(String text) {
    return text.isEmpty() ? EMPTY : new Bytes(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A copy of the remaining bytes of {@code buffer}, whose position is moved to its limit. */
  public static Bytes from(ByteBuffer buffer) {
    if (!buffer.hasRemaining()) {
      return EMPTY;
    }
    byte[] content = new byte[buffer.remaining()];
    buffer.get(content);
    return new Bytes(content);
  }

  /** The number of bytes. */
  public int size() {
    return content.length;
  }

  /** Whether there are no bytes. */
  public boolean isEmpty() {
    return content.length == 0;
  }

  /**
   * The byte at an index, from 0 on.
   *
   * @throws IndexOutOfBoundsException if there is none
   */
  public byte at(int index) {
    return content[index];
  }

  /**
   * Where the first two bytes that follow each other and are these begin; negative if nowhere.
   *
   * @param anyCase whether letters of ASCII are also found in upper case; these two are in lower
   * @param from the index of the first byte to look at, at least 0; may be the end or beyond
   */
  public int indexOf(byte first, byte second, boolean anyCase, int from) {
    long firstCase = anyCase && isLetter(first) ? LOWER_CASE : 0;
    long secondCase = anyCase && isLetter(second) ? LOWER_CASE : 0;
    int at = from;
    for (; at < content.length - Long.BYTES; at += Long.BYTES) {
      long one = ((long) EIGHT.get(content, at) | ONE_EACH * firstCase) ^ ONE_EACH * (first & 0xff);
      long other =
          ((long) EIGHT.get(content, at + 1) | ONE_EACH * secondCase) ^ ONE_EACH * (second & 0xff);
      long found = zeros(one) & zeros(other);
      // Of each, only the lowest byte that is found is surely right.
      for (; found != 0; found &= found - 1) {
        int index = at + Long.numberOfTrailingZeros(found) / Byte.SIZE;
        if ((content[index] | firstCase) == first && (content[index + 1] | secondCase) == second) {
          return index;
        }
      }
    }
    for (; at < content.length - 1; at++) {
      if ((content[at] | firstCase) == first && (content[at + 1] | secondCase) == second) {
        return at;
      }
    }
    return -1;
  }

  private static boolean isLetter(byte b) {
    return b >= 'a' && b <= 'z';
  }

  /** The highest bit of each byte that is 0, and perhaps of others above the lowest of them. */
  private static long zeros(long eight) {
    return (eight - ONE_EACH) & ~eight & (ONE_EACH << 7);
  }

  /** Whether all bytes are ASCII. */
  public boolean isAscii() {
    byte all = 0;
    for (byte each : content) {
      all |= each;
    }
    return all >= 0;
  }

  /** The bytes decoded as UTF-8; malformed sequences become the replacement character. */
  public String utf8() {
    return new String(content, StandardCharsets.UTF_8);
  }

  /** A copy of the bytes. */
  public byte[] toArray() {
    return content.clone();
  }

  /** A read-only view of the bytes. */
  public ByteBuffer buffer() {
    return ByteBuffer.wrap(content).asReadOnlyBuffer();
  }

  /** Copies all bytes to {@code target}, which must have room for them. */
  public void copyTo(ByteBuffer target) {
    target.put(content);
  }

  @Override
  public boolean equals(Object other) {
    return this == other || (other instanceof Bytes bytes && Arrays.equals(content, bytes.content));
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(content);
  }

  /** The bytes as text, cut after 64 characters; only for logs and test messages. */
  @Override
  public String toString() {
    String text = utf8();
    return text.length() <= 64 ? text : text.substring(0, 64) + "…(" + content.length + " bytes)";
  }
}

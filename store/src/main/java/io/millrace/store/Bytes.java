package io.millrace.store;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** An immutable sequence of bytes. Two are equal if they have the same content. */
public final class Bytes {
  /** The empty sequence. */
  public static final Bytes EMPTY = new Bytes(new byte[0]);

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

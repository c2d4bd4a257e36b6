package io.millrace.store.kernel;

import io.millrace.store.Bytes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Writes the elements of records: bytes, numbers of variable length, text. The number forms are
 * those of docs/journal-format.md.
 */
final class RecordWriter {
  private static final int SMALLEST = 1 << 12;

  private ByteBuffer buffer = ByteBuffer.allocate(SMALLEST);

  int size() {
    return buffer.position();
  }

  boolean isEmpty() {
    return buffer.position() == 0;
  }

  void clear() {
    buffer.clear();
  }

  /** What was written so far; changes with the next write. */
  ByteBuffer view() {
    return buffer.duplicate().flip();
  }

  private void reserve(int bytes) {
    if (buffer.remaining() < bytes) {
      int larger = Math.max(buffer.capacity() * 2, buffer.position() + bytes);
      buffer = ByteBuffer.allocate(larger).put(buffer.flip());
    }
  }

  void writeByte(int value) {
    reserve(1);
    buffer.put((byte) value);
  }

  /** Eight bytes, most significant first. */
  void writeLong(long value) {
    reserve(8);
    buffer.putLong(value);
  }

  /** Seven bits to a byte, least significant first; a number that is not negative. */
  void writeNumber(long value) {
    reserve(9);
    long rest = value;
    while (rest > 0x7f) {
      buffer.put((byte) ((rest & 0x7f) | 0x80));
      rest >>>= 7;
    }
    buffer.put((byte) rest);
  }

  void writeBytes(Bytes bytes) {
    writeNumber(bytes.size());
    reserve(bytes.size());
    bytes.copyTo(buffer);
  }

  void writeText(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    writeNumber(utf8.length);
    reserve(utf8.length);
    buffer.put(utf8);
  }
}

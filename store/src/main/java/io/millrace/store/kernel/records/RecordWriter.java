package io.millrace.store.kernel.records;

import io.millrace.store.Bytes;
import io.millrace.store.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** Writes the elements of records, as docs/journal-format.md describes them. */
public final class RecordWriter {
  private static final int SMALLEST = 1 << 12;

  private ByteBuffer buffer = ByteBuffer.allocate(SMALLEST);

  /** The number of bytes written. */
  public int size() {
    return buffer.position();
  }

  /** Whether nothing has been written. */
  public boolean isEmpty() {
    return buffer.position() == 0;
  }

  /** A writer that has written a copy of these bytes. */
  public static RecordWriter copyOf(ByteBuffer bytes) {
    RecordWriter copy = new RecordWriter();
    copy.reserve(bytes.remaining());
    copy.buffer.put(bytes.duplicate());
    return copy;
  }

  /** Discards everything after the first {@code size} bytes. */
  public void truncate(int size) {
    buffer.position(size);
  }

  /** Discards everything written, and keeps the buffer. */
  public void clear() {
    buffer.clear();
  }

  /** A view of the bytes written so far; invalid after the next write. */
  public ByteBuffer view() {
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

  /** A number from 0: seven bits per byte, least significant first. */
  public void writeNumber(long value) {
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

  /** The SHA-256 of the bytes written so far. */
  public byte[] sha256() {
    MessageDigest digest = Sha256.begin();
    digest.update(view());
    return digest.digest();
  }
}

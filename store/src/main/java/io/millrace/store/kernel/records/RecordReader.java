package io.millrace.store.kernel.records;

import io.millrace.store.Bytes;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads what {@link RecordWriter} wrote; whatever it cannot read is a {@link RecordException}. */
public final class RecordReader {
  private final ByteBuffer buffer;

  /**
   * The text read last, so that each group has one string for its name however many tasks it has.
   */
  private String latestText = "";

  /** Reads what remains in a buffer, whose position stays as it is. */
  public RecordReader(ByteBuffer buffer) {
    this.buffer = buffer.duplicate();
  }

  /** Whether everything was read. */
  public boolean atEnd() {
    return !buffer.hasRemaining();
  }

  int readByte() {
    try {
      return buffer.get();
    } catch (BufferUnderflowException e) {
      throw new RecordException("a record ends too early", e);
    }
  }

  long readLong() {
    try {
      return buffer.getLong();
    } catch (BufferUnderflowException e) {
      throw new RecordException("a record ends too early", e);
    }
  }

  long readNumber() {
    long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      int next = readByte();
      value |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new RecordException("a number is longer than nine bytes");
  }

  int readSize() {
    long size = readNumber();
    if (size > buffer.remaining()) {
      throw new RecordException("a part of " + size + " bytes reaches past the end");
    }
    return (int) size;
  }

  /**
   * A count of elements that take at least {@code smallest} bytes each, all of which are still to
   * come; so what is reserved for them stays within the size of the payload.
   */
  int readCount(int smallest) {
    long count = readNumber();
    if (count > buffer.remaining() / smallest) {
      throw new RecordException(count + " elements reach past the end");
    }
    return (int) count;
  }

  int readInt() {
    long value = readNumber();
    if (value > Integer.MAX_VALUE) {
      throw new RecordException("a number is too large: " + value);
    }
    return (int) value;
  }

  Bytes readBytes() {
    int size = readSize();
    ByteBuffer part = buffer.slice(buffer.position(), size);
    buffer.position(buffer.position() + size);
    return Bytes.from(part);
  }

  String readText() {
    byte[] utf8 = new byte[readSize()];
    buffer.get(utf8);
    String text = new String(utf8, StandardCharsets.UTF_8);
    if (text.equals(latestText)) {
      return latestText;
    }
    latestText = text;
    return text;
  }
}

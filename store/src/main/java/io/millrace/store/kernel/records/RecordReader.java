package io.millrace.store.kernel.records;

import io.millrace.store.Bytes;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads the elements of records; throws {@link RecordException} for malformed ones. */
public final class RecordReader {
  private final ByteBuffer buffer;

  /** The last text, so that consecutive tasks of a group share one string for its name. */
  private String latestText = "";

  /** Reads the remaining bytes of a buffer, whose position does not change. */
  public RecordReader(ByteBuffer buffer) {
    this.buffer = buffer.duplicate();
  }

  /** Whether everything has been read. */
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
   * Reads the number of elements that follow, of at least {@code smallest} bytes each. It is
   * checked against the remaining bytes, so that a malformed number does not allocate much memory.
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

package io.millrace.http.websocket;

import io.millrace.http.transport.Transport;
import io.millrace.http.websocket.Frame.ViolationException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads the frames of a client, and unmasks their payloads. For use by one thread. */
final class FrameReader {
  private static final int BUFFER_BYTES = 1 << 10;
  private static final int CONTROL_BYTES = 125;
  private static final int RESERVED = 0x70;

  private final Transport transport;
  private ByteBuffer buffer;
  private Frame head = new Frame(Frame.Opcode.PONG, true, 0, 0);
  private long left;

  /**
   * A reader.
   *
   * @param pending bytes that have already been received; not copied
   * @param transport the source of the rest, in blocking mode
   */
  FrameReader(byte[] pending, Transport transport) {
    this.transport = transport;
    this.buffer = ByteBuffer.wrap(pending);
  }

  /**
   * Reads the head of the next frame. Skips what is unread of the last one.
   *
   * @throws EOFException if the peer has closed its side
   * @throws ViolationException if this is not a valid frame of a client
   */
  Frame next() throws IOException {
    skip();
    need(2);
    int first = buffer.get() & 0xff;
    int second = buffer.get() & 0xff;
    Frame.Opcode opcode = Frame.Opcode.of(first & 0xf);
    boolean last = (first & 0x80) != 0;
    if ((first & RESERVED) != 0 || opcode == null) {
      throw ViolationException.broken("a frame has an unknown opcode or a reserved bit");
    }
    if ((second & 0x80) == 0) {
      throw ViolationException.broken("a frame is not masked");
    }
    long length = length(second & 0x7f);
    if (opcode.isControl() && (!last || length > CONTROL_BYTES)) {
      throw ViolationException.broken("a control frame is fragmented, or longer than 125 bytes");
    }
    need(Integer.BYTES);
    head = new Frame(opcode, last, length, buffer.getInt());
    left = length;
    return head;
  }

  private long length(int bits) throws IOException {
    long length;
    long min;
    if (bits < 126) {
      return bits;
    } else if (bits == 126) {
      need(Short.BYTES);
      length = buffer.getShort() & 0xffff;
      min = 126;
    } else {
      need(Long.BYTES);
      length = buffer.getLong();
      min = 1 << 16;
    }
    if (length < min) {
      throw ViolationException.broken("the length of a frame is not in its shortest form");
    }
    return length;
  }

  /** The number of unread bytes of the frame's payload. */
  long left() {
    return left;
  }

  /**
   * Reads a part of the frame's payload.
   *
   * @return the number of bytes, at least one; -1 at its end
   */
  int read(byte[] target, int offset, int length) throws IOException {
    if (left == 0) {
      return -1;
    }
    int max = (int) Math.min(left, length);
    int count;
    if (buffer.hasRemaining()) {
      count = Math.min(max, buffer.remaining());
      buffer.get(target, offset, count);
    } else {
      count = transport.await(ByteBuffer.wrap(target, offset, max));
      if (count < 0) {
        throw new EOFException("the peer disconnected within a frame");
      }
    }
    unmask(ByteBuffer.wrap(target, offset, count));
    left -= count;
    return count;
  }

  /** Reads the rest of the payload, which must be short. */
  byte[] all() throws IOException {
    byte[] all = new byte[(int) left];
    int at = 0;
    while (left > 0) {
      at += read(all, at, all.length - at);
    }
    return all;
  }

  private void unmask(ByteBuffer payload) {
    int mask = Integer.rotateLeft(head.mask(), Byte.SIZE * (int) ((head.length() - left) & 3));
    long wide = ((long) mask << Integer.SIZE) | (mask & 0xffff_ffffL);
    int at = payload.position();
    for (; at + Long.BYTES <= payload.limit(); at += Long.BYTES) {
      payload.putLong(at, payload.getLong(at) ^ wide);
    }
    for (int i = 0; at < payload.limit(); at++, i++) {
      payload.put(at, (byte) (payload.get(at) ^ (mask >> (24 - Byte.SIZE * (i & 3)))));
    }
  }

  private void skip() throws IOException {
    byte[] dropped = left == 0 ? new byte[0] : new byte[(int) Math.min(left, 64 << 10)];
    while (left > 0) {
      var _ = read(dropped, 0, dropped.length);
    }
  }

  /** Reads and drops everything until the peer closes its side. */
  void drain() throws IOException {
    ByteBuffer dropped = ByteBuffer.allocate(8 << 10);
    while (transport.drop(dropped.clear()) >= 0) {
      // Dropped.
    }
  }

  /** Makes sure that the buffer has {@code count} bytes. */
  private void need(int count) throws IOException {
    if (buffer.remaining() >= count) {
      return;
    }
    if (buffer.capacity() != BUFFER_BYTES) {
      buffer = ByteBuffer.allocate(BUFFER_BYTES).put(buffer);
    } else {
      buffer.compact();
    }
    try {
      while (buffer.position() < count) {
        if (transport.await(buffer) < 0) {
          throw new EOFException("the peer disconnected");
        }
      }
    } finally {
      buffer.flip();
    }
  }
}

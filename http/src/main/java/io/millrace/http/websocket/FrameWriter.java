package io.millrace.http.websocket;

import io.millrace.http.transport.Transport;
import io.millrace.http.websocket.Frame.CloseCode;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Writes frames to a client. For use by one thread at a time. */
final class FrameWriter {
  /** The largest payload of a fragment, in bytes. */
  static final int FRAGMENT_BYTES = 256 << 10;

  private static final int MAX_HEAD_BYTES = 10;
  private static final int MAX_REASON_BYTES = 123;

  private final Transport transport;

  FrameWriter(Transport transport) {
    this.transport = transport;
  }

  /** The content of a message could not be read. */
  static final class ContentException extends IOException {
    ContentException(Throwable cause) {
      super("the content of a message cannot be read", cause);
    }
  }

  void text(String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    frame(Frame.Opcode.TEXT, true, bytes, bytes.length);
  }

  void control(Frame.Opcode opcode, byte[] content) throws IOException {
    frame(opcode, true, content, content.length);
  }

  void close(SendQueue.Close close) throws IOException {
    if (close.code() == CloseCode.NO_CODE) {
      control(Frame.Opcode.CLOSE, new byte[0]);
    } else {
      byte[] reason = cut(close.reason());
      ByteBuffer content = ByteBuffer.allocate(Short.BYTES + reason.length);
      control(Frame.Opcode.CLOSE, content.putShort((short) close.code()).put(reason).array());
    }
  }

  /**
   * Writes a binary message. If its content is gone (null), writes nothing.
   *
   * @param cancelled checked before each fragment; if it is true, the rest is not written
   * @return false if the message was cancelled and is incomplete
   * @throws ContentException if the content cannot be read
   */
  boolean binary(SendQueue.Binary message, BooleanSupplier cancelled) throws IOException {
    try (InputStream content = open(message)) {
      if (content == null) {
        return true;
      }
      if (message.before() != null) {
        text(message.before());
      }
      long left = message.size();
      byte[] fragment = new byte[(int) Math.min(left, FRAGMENT_BYTES)];
      Frame.Opcode opcode = Frame.Opcode.BINARY;
      do {
        if (cancelled.getAsBoolean()) {
          return false;
        }
        int count = (int) Math.min(left, fragment.length);
        fill(fragment, count, content);
        left -= count;
        frame(opcode, left == 0, fragment, count);
        opcode = Frame.Opcode.CONTINUATION;
      } while (left > 0);
      return true;
    }
  }

  private static @Nullable InputStream open(SendQueue.Binary message) throws ContentException {
    try {
      return message.content().open();
    } catch (IOException | RuntimeException e) {
      throw new ContentException(e);
    }
  }

  private static void fill(byte[] fragment, int count, InputStream content)
      throws ContentException {
    try {
      if (content.readNBytes(fragment, 0, count) < count) {
        throw new EOFException("the content is shorter than its size");
      }
    } catch (IOException | RuntimeException e) {
      throw new ContentException(e);
    }
  }

  private void frame(Frame.Opcode opcode, boolean last, byte[] payload, int length)
      throws IOException {
    // A short frame is written together with its head, in one packet.
    boolean together = length <= 1 << 14;
    ByteBuffer head = ByteBuffer.allocate(MAX_HEAD_BYTES + (together ? length : 0));
    head.put((byte) ((last ? 0x80 : 0) | opcode.bits()));
    if (length < 126) {
      head.put((byte) length);
    } else if (length < 1 << 16) {
      head.put((byte) 126).putShort((short) length);
    } else {
      head.put((byte) 127).putLong(length);
    }
    if (together) {
      transport.send(head.put(payload, 0, length).flip());
    } else {
      transport.send(head.flip());
      transport.send(ByteBuffer.wrap(payload, 0, length));
    }
  }

  /** A reason as UTF-8, cut between two characters so that it fits into a close frame. */
  static byte[] cut(String reason) {
    byte[] whole = reason.getBytes(StandardCharsets.UTF_8);
    int end = Math.min(whole.length, MAX_REASON_BYTES);
    while (end < whole.length && (whole[end] & 0xc0) == 0x80) {
      end--;
    }
    return end == whole.length ? whole : Arrays.copyOf(whole, end);
  }
}

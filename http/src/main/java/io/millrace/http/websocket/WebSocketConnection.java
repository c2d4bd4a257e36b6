package io.millrace.http.websocket;

import io.millrace.http.transport.Transport;
import io.millrace.http.websocket.Frame.CloseCode;
import io.millrace.http.websocket.Frame.ViolationException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that has been switched to WebSocket. {@link #run} receives frames on the calling
 * thread until the connection ends. A {@link SendQueue} sends.
 */
public final class WebSocketConnection {
  private static final Logger LOG = LoggerFactory.getLogger(WebSocketConnection.class);

  /** The target of bytes that are dropped, shared by all connections. */
  private static final byte[] DROPPED = new byte[8 << 10];

  /** How often {@link WebSocket.Listener#alive} is called for the parts of a long message. */
  private static final long ALIVE_NANOS = Duration.ofSeconds(1).toNanos();

  private final FrameReader frames;
  private final WebSocket.Limits limits;
  private final Memory memory;
  private final SendQueue out;
  private final WebSocket.Listener listener;
  private long aliveNanos = System.nanoTime();

  /**
   * A connection after its handshake.
   *
   * @param transport of the connection, whose channel is in blocking mode
   * @param pending the bytes received after the handshake
   * @param memory the budget for text messages; if it is used up, the connection is closed with
   *     1013
   * @param opener makes the listener from the sending side
   */
  public WebSocketConnection(
      Transport transport,
      byte[] pending,
      WebSocket.Limits limits,
      Memory memory,
      Function<WebSocket, WebSocket.Listener> opener) {
    this.frames = new FrameReader(pending, transport);
    this.limits = limits;
    this.memory = memory;
    this.out = new SendQueue(transport);
    this.listener = opener.apply(out);
  }

  /** A memory budget for text messages while they are received. Thread-safe. */
  public interface Memory {
    /**
     * Reserves bytes for a text.
     *
     * @param bytes how many more
     * @param total how many the text has with these
     * @return false if there is no room; nothing is reserved then
     */
    boolean reserve(long bytes, long total);

    /** Releases reserved bytes. */
    void release(long bytes);
  }

  /**
   * Closes with 1001. Messages of the peer are passed on until it answers the close frame; after
   * five seconds it is disconnected. Called by any thread.
   */
  public void goAway(String reason) {
    out.sendClose(CloseCode.GOING_AWAY, reason);
  }

  /**
   * Closes with 1008, because the peer may not use this connection any more. Its messages are not
   * passed on; after five seconds it is disconnected. Called by any thread.
   */
  public void revoke(String reason) {
    out.close(CloseCode.POLICY, reason);
  }

  /** The peer has sent a close frame. */
  private static final class ClosedException extends IOException {}

  /** Receives messages and passes them to the listener, until the connection ends. Called once. */
  public void run() {
    try {
      while (true) {
        message(nextFrame(false));
      }
    } catch (ViolationException e) {
      refuse(e);
    } catch (ClosedException e) {
      out.shutdown();
    } catch (IOException e) {
      LOG.trace("a connection ended", e);
    } catch (RuntimeException e) {
      LOG.error("a connection is closed because of an internal error", e);
      out.close(CloseCode.INTERNAL_ERROR, "internal error of the server");
      out.awaitLast();
    } finally {
      out.disconnect();
      SendQueue.Close first = out.firstClose();
      if (first == null) {
        listener.closed(CloseCode.BROKEN, "");
      } else {
        listener.closed(first.code(), first.reason());
      }
    }
  }

  /**
   * Reads the next frame of a message, and handles the control frames before it.
   *
   * @param continues whether it must continue a message
   */
  private Frame nextFrame(boolean continues) throws IOException {
    while (true) {
      Frame head = frames.next();
      switch (head.opcode()) {
        case PING -> out.pong(frames.all());
        case PONG -> {}
        case CLOSE -> closed(frames.all());
        case TEXT, BINARY, CONTINUATION -> {
          if (continues != (head.opcode() == Frame.Opcode.CONTINUATION)) {
            throw ViolationException.broken("a frame is out of order");
          }
          if (head.length() > limits.frameBytes()) {
            throw ViolationException.tooLong(
                "a frame has at most " + limits.frameBytes() + " bytes; send fragments");
          }
          return head;
        }
      }
      if (!out.ownerClosed()) {
        listener.alive();
      }
    }
  }

  private void closed(byte[] content) throws IOException {
    int code = CloseCode.NO_CODE;
    if (content.length > 0) {
      code = content.length == 1 ? 0 : ByteBuffer.wrap(content).getShort() & 0xffff;
      if (!CloseCode.maySend(code)) {
        throw ViolationException.broken("a close frame has an invalid code");
      }
      String _ = text(ByteBuffer.wrap(content, Short.BYTES, content.length - Short.BYTES));
    }
    out.sendClose(code, "");
    throw new ClosedException();
  }

  private void message(Frame head) throws IOException {
    MessageStream message = new MessageStream(head.last());
    if (head.opcode() == Frame.Opcode.TEXT) {
      wholeText(message);
    } else {
      checkMessage(head.length());
      if (!out.ownerClosed()) {
        pass(message);
      }
      message.skipRest();
    }
  }

  private void pass(MessageStream message) throws IOException {
    try {
      listener.binary(message);
    } catch (IOException | RuntimeException e) {
      message.check();
      if (!out.ownerClosed()) {
        LOG.warn("a message could not be processed", e);
        out.close(CloseCode.INTERNAL_ERROR, "the message could not be processed");
      }
    }
  }

  /** Reads a complete text message and passes it on. */
  private void wholeText(MessageStream message) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] part = new byte[1 << 10];
    int reserved = 0;
    try {
      checkText(frames.left());
      int count = message.read(part, 0, part.length);
      while (count >= 0) {
        if (!memory.reserve(count, bytes.size() + count)) {
          throw ViolationException.noRoom("the server has no memory for this text now");
        }
        reserved += count;
        bytes.write(part, 0, count);
        checkText(bytes.size() + frames.left());
        count = message.read(part, 0, part.length);
      }
      String text = text(ByteBuffer.wrap(bytes.toByteArray()));
      if (!out.ownerClosed()) {
        listener.text(text);
      }
    } finally {
      memory.release(reserved);
    }
  }

  private static String text(ByteBuffer bytes) throws ViolationException {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
    } catch (CharacterCodingException _) {
      throw ViolationException.notUtf8("a text is not UTF-8");
    }
  }

  private void checkText(long length) throws ViolationException {
    long max = Math.min(limits.textBytes(), listener.textLimit());
    if (length > max) {
      throw ViolationException.tooLong("a text message has at most " + max + " bytes");
    }
  }

  /** Checks the length of a binary message so far. */
  private void checkMessage(long length) throws ViolationException {
    if (length > limits.messageBytes()) {
      throw ViolationException.tooLong("a message has at most " + limits.messageBytes() + " bytes");
    }
  }

  /** Tells the listener that the peer is alive, but not too often. */
  private void noteAlive() {
    long now = System.nanoTime();
    if (now - aliveNanos > ALIVE_NANOS && !out.ownerClosed()) {
      aliveNanos = now;
      listener.alive();
    }
  }

  /**
   * Closes because of a violation, and drops everything that the peer still sends. Closing the
   * channel with unread bytes would reset the connection, and the peer might miss the close frame.
   */
  private void refuse(ViolationException violation) {
    out.close(violation.code(), violation.reason());
    try {
      if (violation.framed()) {
        while (frames.next().opcode() != Frame.Opcode.CLOSE) {
          // Dropped.
        }
      } else {
        out.shutdown();
        frames.drain();
      }
    } catch (IOException e) {
      LOG.trace("a connection ended", e);
    }
  }

  /** The content of a message, read from its frames. For use by the thread of the connection. */
  private final class MessageStream extends InputStream {
    private boolean last;
    private long length;
    private @Nullable IOException failure;

    /** The message of the current frame, which is its first. */
    MessageStream(boolean last) {
      this.last = last;
      this.length = frames.left();
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int count) throws IOException {
      if (count == 0) {
        return 0;
      }
      check();
      try {
        while (frames.left() == 0) {
          if (last) {
            return -1;
          }
          Frame next = nextFrame(true);
          last = next.last();
          length += next.length();
          checkMessage(length);
        }
        int read = frames.read(target, offset, count);
        noteAlive();
        return read;
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }

    /** Fails if reading has failed before, even if a reader has caught that. */
    void check() throws IOException {
      if (failure != null) {
        throw failure;
      }
    }

    /** Reads and drops the rest. */
    void skipRest() throws IOException {
      while (read(DROPPED, 0, DROPPED.length) >= 0) {
        // Dropped.
      }
    }
  }
}

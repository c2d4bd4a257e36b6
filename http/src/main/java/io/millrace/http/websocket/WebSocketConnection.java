package io.millrace.http.websocket;

import io.millrace.http.websocket.Frame.CloseCode;
import io.millrace.http.websocket.Frame.ViolationException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that has been switched to WebSocket. {@link #run} receives: it reads frames until
 * the connection ends, on the thread that calls it. Everything is sent by a {@link SendQueue}.
 */
public final class WebSocketConnection {
  private static final Logger LOG = LoggerFactory.getLogger(WebSocketConnection.class);

  /** What nobody reads goes here, for all connections. */
  private static final byte[] DROPPED = new byte[8 << 10];

  /** How often the listener is told of the parts of a long message. */
  private static final long HEARD_NANOS = Duration.ofSeconds(1).toNanos();

  private final FrameReader frames;
  private final WebSocket.Limits limits;
  private final Memory memory;
  private final SendQueue out;
  private final WebSocket.Listener listener;
  private long heardNanos = System.nanoTime();

  /**
   * A connected channel that has been switched.
   *
   * @param channel in blocking mode
   * @param pending what was read of it already and belongs to the first frames
   * @param memory for texts; one for which it has no room is answered by closing with 1013
   * @param opener makes the listener, given what to send on
   */
  public WebSocketConnection(
      SocketChannel channel,
      byte[] pending,
      WebSocket.Limits limits,
      Memory memory,
      Function<WebSocket, WebSocket.Listener> opener) {
    this.frames = new FrameReader(pending, channel);
    this.limits = limits;
    this.memory = memory;
    this.out = new SendQueue(channel);
    this.listener = opener.apply(out);
  }

  /** A budget for texts, which are kept until they have been passed on. */
  public interface Memory {
    /**
     * Reserves more bytes for a text.
     *
     * @param total how many it then has
     * @return false if there is no room, so that nothing is reserved
     */
    boolean reserve(long bytes, long total);

    /** Gives bytes back. */
    void release(long bytes);
  }

  /**
   * Asks the peer to go, with 1001. What it sends until it agrees is still heard; after five
   * seconds it is cut off. Safe for use by any thread.
   */
  public void leave(String reason) {
    out.end(CloseCode.GOING_AWAY, reason);
  }

  /**
   * Sends the peer away, with 1008, because it may not use this connection any more. Nothing that
   * it sends is passed on; after five seconds it is cut off. Safe for use by any thread.
   */
  public void revoke(String reason) {
    out.close(CloseCode.POLICY, reason);
  }

  /** The peer has closed. */
  private static final class ClosedException extends IOException {}

  /** Passes on what comes, until the connection is over. Called once. */
  public void run() {
    try {
      while (true) {
        message(nextFrame(false));
      }
    } catch (ViolationException e) {
      refuse(e);
    } catch (ClosedException e) {
      out.awaitLast();
    } catch (IOException e) {
      LOG.trace("a connection ended", e);
    } catch (RuntimeException e) {
      LOG.error("a connection is closed for a fault of the server", e);
      out.close(CloseCode.INTERNAL_ERROR, "the server made a mistake");
      out.awaitLast();
    } finally {
      out.over();
      SendQueue.Close first = out.firstClose();
      if (first == null) {
        listener.closed(CloseCode.BROKEN, "");
      } else {
        listener.closed(first.code(), first.reason());
      }
    }
  }

  /**
   * The next frame that belongs to a message; those between are dealt with.
   *
   * @param within whether it continues a message
   */
  private Frame nextFrame(boolean within) throws IOException {
    while (true) {
      Frame head = frames.next();
      switch (head.opcode()) {
        case PING -> out.pong(frames.all());
        case PONG -> {}
        case CLOSE -> closed(frames.all());
        case TEXT, BINARY, CONTINUATION -> {
          if (within != (head.opcode() == Frame.Opcode.CONTINUATION)) {
            throw ViolationException.broken("a frame out of its order");
          }
          if (head.length() > limits.frameBytes()) {
            throw ViolationException.tooLong(
                "a frame has at most " + limits.frameBytes() + " bytes; send fragments");
          }
          return head;
        }
      }
      if (!out.dismissed()) {
        listener.alive();
      }
    }
  }

  private void closed(byte[] content) throws IOException {
    int code = CloseCode.NO_CODE;
    if (content.length > 0) {
      code = content.length == 1 ? 0 : ByteBuffer.wrap(content).getShort() & 0xffff;
      if (!CloseCode.maySend(code)) {
        throw ViolationException.broken("a close code that may not be sent");
      }
      String _ = text(ByteBuffer.wrap(content, Short.BYTES, content.length - Short.BYTES));
    }
    out.end(code, "");
    throw new ClosedException();
  }

  private void message(Frame head) throws IOException {
    MessageStream message = new MessageStream(head.last());
    if (head.opcode() == Frame.Opcode.TEXT) {
      wholeText(message);
    } else {
      checkMessage(head.length());
      if (!out.dismissed()) {
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
      if (!out.dismissed()) {
        LOG.warn("a message could not be taken", e);
        out.close(CloseCode.INTERNAL_ERROR, "the message could not be taken");
      }
    }
  }

  /** Reads a text and passes it on. */
  private void wholeText(MessageStream message) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] part = new byte[1 << 10];
    int reserved = 0;
    try {
      checkText(frames.left());
      int count = message.read(part, 0, part.length);
      while (count >= 0) {
        if (!memory.reserve(count, bytes.size() + count)) {
          throw ViolationException.noRoom("the server has no room for this text now");
        }
        reserved += count;
        bytes.write(part, 0, count);
        checkText(bytes.size() + frames.left());
        count = message.read(part, 0, part.length);
      }
      String text = text(ByteBuffer.wrap(bytes.toByteArray()));
      if (!out.dismissed()) {
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
      throw ViolationException.notUtf8("a text that is not UTF-8");
    }
  }

  private void checkText(long length) throws ViolationException {
    long most = Math.min(limits.textBytes(), listener.textLimit());
    if (length > most) {
      throw ViolationException.tooLong("a text message has at most " + most + " bytes");
    }
  }

  /** Checks how long a binary message is so far. */
  private void checkMessage(long length) throws ViolationException {
    if (length > limits.messageBytes()) {
      throw ViolationException.tooLong("a message has at most " + limits.messageBytes() + " bytes");
    }
  }

  /** A part of a message has come. */
  private void heard() {
    long now = System.nanoTime();
    if (now - heardNanos > HEARD_NANOS && !out.dismissed()) {
      heardNanos = now;
      listener.alive();
    }
  }

  /**
   * Says what was wrong, and takes whatever the peer still sends: closing with bytes unread would
   * discard the answer before the peer sees it.
   */
  private void refuse(ViolationException violation) {
    out.close(violation.code(), violation.reason());
    try {
      if (violation.framed()) {
        while (frames.next().opcode() != Frame.Opcode.CLOSE) {
          // Not wanted any more.
        }
      } else {
        out.shutdown();
        frames.drain();
      }
    } catch (IOException e) {
      LOG.trace("a connection ended", e);
    }
  }

  /** A message, read from its frames while they come. For use by the connection's thread. */
  private final class MessageStream extends InputStream {
    private boolean last;
    private long length;
    private @Nullable IOException failure;

    /** The message whose first frame has just begun. */
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
        heard();
        return read;
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }

    /** Fails if reading has failed before, whatever its reader made of that. */
    void check() throws IOException {
      if (failure != null) {
        throw failure;
      }
    }

    /** Reads what is left. */
    void skipRest() throws IOException {
      while (read(DROPPED, 0, DROPPED.length) >= 0) {
        // It is dropped.
      }
    }
  }
}

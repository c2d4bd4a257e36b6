package io.millrace.server.websocket;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The receiving half: reads frames until the connection ends. For use by one thread. */
final class Conversation {
  private static final Logger LOG = LoggerFactory.getLogger(Conversation.class);

  /** How often the parts of a long message are told of. */
  private static final long HEARD_NANOS = Duration.ofSeconds(1).toNanos();

  private final FrameReader frames;
  private final WebSocketLimits limits;
  private final WebSocketConnection.Memory memory;
  private final Outbound out;
  private final WebSocketListener listener;
  private long heardNanos = System.nanoTime();

  Conversation(
      FrameReader frames,
      WebSocketLimits limits,
      WebSocketConnection.Memory memory,
      Outbound out,
      WebSocketListener listener) {
    this.frames = frames;
    this.limits = limits;
    this.memory = memory;
    this.out = out;
    this.listener = listener;
  }

  /** The peer has closed. */
  private static final class ClosedException extends IOException {
    private static final long serialVersionUID = 1;
  }

  /** Passes on what comes, until the connection is over. */
  void run() {
    try {
      while (true) {
        message(next(false));
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
      Outgoing.Close first = out.firstClose();
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
  FrameHead next(boolean within) throws IOException {
    while (true) {
      FrameHead head = frames.next();
      switch (head.opcode()) {
        case PING -> out.pong(frames.all());
        case PONG -> {}
        case CLOSE -> closed(frames.all());
        case TEXT, BINARY, CONTINUATION -> {
          if (within != (head.opcode() == Opcode.CONTINUATION)) {
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

  private void message(FrameHead head) throws IOException {
    MessageStream message = new MessageStream(this, frames, head.last());
    if (head.opcode() == Opcode.TEXT) {
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
  void checkMessage(long length) throws ViolationException {
    if (length > limits.messageBytes()) {
      throw ViolationException.tooLong("a message has at most " + limits.messageBytes() + " bytes");
    }
  }

  /** A part of a message has come. */
  void heard() {
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
        while (frames.next().opcode() != Opcode.CLOSE) {
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
}

package io.millrace.http.websocket;

import io.millrace.http.websocket.Frame.CloseCode;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sending half: a queue, and a virtual thread for as long as there is something in it. Safe for
 * use by any thread.
 */
final class SendQueue implements WebSocket {
  private static final Logger LOG = LoggerFactory.getLogger(SendQueue.class);

  /** How long a peer may take to agree to a close. */
  private static final Duration FAREWELL = Duration.ofSeconds(5);

  /** What waits to be sent. */
  sealed interface Outgoing {}

  /** A text message. */
  private record Text(String text) implements Outgoing {}

  /**
   * A binary message.
   *
   * @param before a text message directly before it; null for none
   * @param size in bytes
   * @param content its bytes
   */
  record Binary(@Nullable String before, long size, WebSocket.Content content)
      implements Outgoing {}

  /** A ping without content. */
  private record Ping() implements Outgoing {}

  /** The answer to a ping. */
  private static final class Pong implements Outgoing {
    private final byte[] content;

    Pong(byte[] content) {
      this.content = content;
    }

    byte[] content() {
      return content;
    }
  }

  /**
   * The last frame.
   *
   * @param code 1005 for none
   * @param reason for people
   */
  record Close(int code, String reason) implements Outgoing {}

  private final SocketChannel channel;
  private final FrameWriter writer;
  private final Deque<Outgoing> queue = new ArrayDeque<>();
  private final CountDownLatch lastWritten = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);

  /** Whether a thread writes. */
  private boolean writing;

  /**
   * The first close that either side decided on; null while there is none. Guarded by the queue.
   */
  private @Nullable Close firstClose;

  private volatile boolean closing;
  private volatile boolean dismissed;

  SendQueue(SocketChannel channel) {
    this.channel = channel;
    this.writer = new FrameWriter(channel);
  }

  @Override
  public void text(String text) {
    add(new Text(text));
  }

  @Override
  public void binary(@Nullable String before, long size, Content content) {
    add(new Binary(before, size, content));
  }

  @Override
  public void ping() {
    add(new Ping());
  }

  /** Answers a ping; only the last if several wait. */
  void pong(byte[] content) {
    synchronized (queue) {
      queue.removeIf(Pong.class::isInstance);
    }
    add(new Pong(content));
  }

  @Override
  public void close(int code, String reason) {
    dismissed = true;
    end(code, reason);
  }

  /** Whether the owner has closed, so that it wants to hear no more. */
  boolean dismissed() {
    return dismissed;
  }

  /** Closes, while what comes until the peer has agreed is still passed on. */
  void end(int code, String reason) {
    if (add(new Close(code, reason))) {
      Thread.ofVirtual().name("websocket-farewell").start(this::farewell);
    }
  }

  private boolean add(Outgoing next) {
    synchronized (queue) {
      if (closing) {
        return false;
      }
      if (queue.size() >= MOST_QUEUED) {
        closing = true;
        queue.clear();
        over();
        return false;
      }
      if (next instanceof Close close) {
        closing = true;
        firstClose = close;
      }
      queue.add(next);
      if (!writing) {
        writing = true;
        Thread.ofVirtual().name("websocket-send").start(this::send);
      }
      return true;
    }
  }

  private void send() {
    try {
      boolean more = true;
      while (more) {
        more = sendNext();
      }
    } catch (FrameWriter.ContentException e) {
      LOG.warn("a connection is closed for what could not be sent", e);
      giveUp();
    } catch (IOException e) {
      LOG.trace("a connection ended", e);
      over();
    } catch (RuntimeException | Error e) {
      // Otherwise the connection would stay open, and nothing could be sent on it.
      LOG.warn("a connection is closed, since nothing can be sent on it", e);
      over();
    }
  }

  /** Whether there may be more. */
  private boolean sendNext() throws IOException {
    Outgoing next;
    synchronized (queue) {
      next = queue.poll();
      if (next == null) {
        writing = false;
        return false;
      }
    }
    switch (next) {
      case Text(String text) -> writer.text(text);
      case Binary binary -> {
        if (!writer.binary(binary, () -> closing)) {
          dropAllButClose();
        }
      }
      case Ping() -> writer.control(Frame.Opcode.PING, new byte[0]);
      case Pong pong -> writer.control(Frame.Opcode.PONG, pong.content());
      case Close close -> {
        writer.close(close);
        lastWritten.countDown();
        return false;
      }
    }
    return true;
  }

  /** Nothing but a close can stand within a message that was not sent to its end. */
  private void dropAllButClose() {
    synchronized (queue) {
      queue.removeIf(each -> !(each instanceof Close));
    }
  }

  private void giveUp() {
    Close close = new Close(CloseCode.INTERNAL_ERROR, "the payload cannot be read");
    boolean begins;
    synchronized (queue) {
      begins = !closing;
      if (begins) {
        firstClose = close;
      }
      closing = true;
      dismissed = true;
      queue.clear();
    }
    try {
      writer.close(close);
      lastWritten.countDown();
      if (begins) {
        Thread.ofVirtual().name("websocket-farewell").start(this::farewell);
      }
    } catch (IOException _) {
      over();
    }
  }

  /** Lets the peer agree to the close, but not for ever. */
  private void farewell() {
    try {
      if (!over.await(FAREWELL.toMillis(), TimeUnit.MILLISECONDS)) {
        over();
      }
    } catch (InterruptedException _) {
      over();
    }
  }

  /** The close that came first, of this side or the peer's; null when there was none. */
  @Nullable Close firstClose() {
    synchronized (queue) {
      return firstClose;
    }
  }

  /** Waits until the close is sent, or cannot be. */
  void awaitLast() {
    try {
      var _ = lastWritten.await(FAREWELL.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** After a last frame to a peer that is not understood: it shall see that nothing follows. */
  void shutdown() {
    awaitLast();
    try {
      channel.shutdownOutput();
    } catch (IOException _) {
      over();
    }
  }

  /** Ends the connection at once. */
  void over() {
    over.countDown();
    lastWritten.countDown();
    try {
      channel.close();
    } catch (IOException e) {
      LOG.trace("a connection could not be closed", e);
    }
  }
}

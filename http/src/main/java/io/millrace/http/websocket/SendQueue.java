package io.millrace.http.websocket;

import io.millrace.http.transport.Transport;
import io.millrace.http.websocket.Frame.CloseCode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sending side of a connection: a queue, and a virtual thread while it is not empty.
 * Thread-safe.
 */
final class SendQueue implements WebSocket {
  private static final Logger LOG = LoggerFactory.getLogger(SendQueue.class);

  /** How long a peer may take to answer a close frame. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  /** A frame or message in the queue. */
  sealed interface Outgoing {}

  /** A text message. */
  private record Text(String text) implements Outgoing {}

  /**
   * A binary message.
   *
   * @param before a text message to send directly before it; null for none
   * @param size its size in bytes
   * @param content its bytes
   */
  record Binary(@Nullable String before, long size, WebSocket.Content content)
      implements Outgoing {}

  /** A ping without content. */
  private record Ping() implements Outgoing {}

  /** The response to a ping. */
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
   * @param code the close code; 1005 for none
   * @param reason the reason, for people
   */
  record Close(int code, String reason) implements Outgoing {}

  private final Transport transport;
  private final FrameWriter writer;
  private final Deque<Outgoing> queue = new ArrayDeque<>();
  private final CountDownLatch lastWritten = new CountDownLatch(1);
  private final CountDownLatch disconnected = new CountDownLatch(1);

  /** Whether a thread is writing. Guarded by the queue. */
  private boolean writing;

  /** The close of the side that closed first; null if there is none yet. Guarded by the queue. */
  private @Nullable Close firstClose;

  private volatile boolean closing;
  private volatile boolean ownerClosed;

  SendQueue(Transport transport) {
    this.transport = transport;
    this.writer = new FrameWriter(transport);
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

  /** Answers a ping. If several pings wait, only the last is answered. */
  void pong(byte[] content) {
    synchronized (queue) {
      queue.removeIf(Pong.class::isInstance);
    }
    add(new Pong(content));
  }

  @Override
  public void close(int code, String reason) {
    ownerClosed = true;
    sendClose(code, reason);
  }

  /** Whether the owner has closed, so that messages are not passed on any more. */
  boolean ownerClosed() {
    return ownerClosed;
  }

  /** Sends a close frame. Messages of the peer are passed on until it answers. */
  void sendClose(int code, String reason) {
    if (add(new Close(code, reason))) {
      startCloseTimeout();
    }
  }

  private void startCloseTimeout() {
    Thread.ofVirtual().name("websocket-close").start(this::disconnectAfterTimeout);
  }

  private boolean add(Outgoing next) {
    synchronized (queue) {
      if (closing) {
        return false;
      }
      if (queue.size() >= MAX_QUEUED) {
        closing = true;
        queue.clear();
        disconnect();
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
      LOG.warn("a connection is closed because a message could not be read", e);
      closeAfterContentError();
    } catch (IOException e) {
      LOG.trace("a connection ended", e);
      disconnect();
    } catch (RuntimeException | Error e) {
      // Otherwise the connection would stay open, and nothing could be sent on it.
      LOG.warn("a connection is closed because sending failed", e);
      disconnect();
    }
  }

  /** Sends the next entry of the queue. Returns false if there are no more. */
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

  /** After an incomplete message, only a close frame may be sent. */
  private void dropAllButClose() {
    synchronized (queue) {
      queue.removeIf(each -> !(each instanceof Close));
    }
  }

  private void closeAfterContentError() {
    Close close = new Close(CloseCode.INTERNAL_ERROR, "the payload cannot be read");
    boolean begins;
    synchronized (queue) {
      begins = !closing;
      if (begins) {
        firstClose = close;
      }
      closing = true;
      ownerClosed = true;
      queue.clear();
    }
    try {
      writer.close(close);
      lastWritten.countDown();
      if (begins) {
        startCloseTimeout();
      }
    } catch (IOException _) {
      disconnect();
    }
  }

  /** Disconnects if the peer does not answer the close frame in time. */
  private void disconnectAfterTimeout() {
    try {
      if (!disconnected.await(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        disconnect();
      }
    } catch (InterruptedException _) {
      disconnect();
    }
  }

  /** The close of the side that closed first; null if there was none. */
  @Nullable Close firstClose() {
    synchronized (queue) {
      return firstClose;
    }
  }

  /** Waits until the close frame has been sent, or cannot be sent. */
  void awaitLast() {
    try {
      var _ = lastWritten.await(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the output after the close frame. */
  void shutdown() {
    awaitLast();
    try {
      transport.shutdownOutput();
    } catch (IOException _) {
      disconnect();
    }
  }

  /** Closes the connection at once. */
  void disconnect() {
    disconnected.countDown();
    lastWritten.countDown();
    try {
      transport.close();
    } catch (IOException e) {
      LOG.trace("a connection could not be closed", e);
    }
  }
}

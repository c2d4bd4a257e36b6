package io.millrace.server.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A connection while its event loop serves it: from the end of one request that the library handled
 * until the next that is not plain.
 *
 * <pre>
 *              whole plain request            event done
 *   READING ------------------------> ASKED ---------------+
 *    |   ^                                                 |
 *    |   +---------------- all written <--- WRITING <------+
 *    |
 *    +--> anything else: back to the connection's own thread, with every byte that was read
 * </pre>
 *
 * Everything but {@link #serve} happens on the loop's thread.
 */
final class Line {
  private final EventLoop loop;
  private final Connection connection;
  private final SocketChannel channel;
  private final PromptDispatcher dispatcher;
  private final Inbox inbox;
  private final CompletableFuture<byte @Nullable []> returned = new CompletableFuture<>();
  private @Nullable SelectionKey key;
  private PromptDispatcher.@Nullable Exchange asked;
  private @Nullable ByteBuffer unwritten;

  /** Whether what was asked is decided, so that nobody else will end it. */
  private boolean answering;

  Line(EventLoop loop, Connection connection, PromptDispatcher dispatcher) {
    this.loop = loop;
    this.connection = connection;
    this.channel = connection.channel();
    this.dispatcher = dispatcher;
    this.inbox = new Inbox(loop.reader());
  }

  /**
   * Has the loop serve the connection, and waits until it gives it back.
   *
   * @return the first bytes of a request that is not plain; null when the client has closed
   * @throws IOException when the connection failed
   */
  byte @Nullable [] serve() throws IOException, InterruptedException {
    loop.execute(this::begin);
    try {
      byte[] bytes = returned.get();
      channel.configureBlocking(true);
      return bytes;
    } catch (InterruptedException e) {
      loop.execute(() -> fail(e));
      throw e;
    } catch (ExecutionException e) {
      throw new IOException("the connection failed", e.getCause());
    }
  }

  private void begin() {
    try {
      channel.configureBlocking(false);
      key = channel.register(loop.selector(), SelectionKey.OP_READ, this);
    } catch (IOException | RuntimeException e) {
      returned.completeExceptionally(e);
    }
  }

  /** Does what the connection is ready for. */
  void ready() {
    SelectionKey current = key;
    if (current == null || !current.isValid()) {
      return;
    }
    try {
      if (unwritten != null) {
        write(unwritten);
      } else if (asked != null) {
        // What comes before the answer is looked at after it.
        current.interestOps(0);
      } else {
        read();
      }
    } catch (IOException | RuntimeException | Error e) {
      // Errors too: the loop must outlive whatever one connection does.
      fail(e);
    }
  }

  private void read() throws IOException {
    ByteBuffer buffer = loop.buffer();
    if (channel.read(buffer) < 0) {
      giveBack();
      return;
    }
    connection.heard();
    switch (inbox.add(buffer.flip())) {
      case PARTIAL -> {}
      case PLAIN -> ask();
      case OTHER -> giveBack();
    }
  }

  private void ask() throws IOException {
    PromptDispatcher.Exchange begun = dispatcher.begin(inbox.request(), connection, loop.round());
    if (begun == null) {
      giveBack();
      return;
    }
    inbox.drain();
    asked = begun;
    if (begun.isDone()) {
      answer(begun);
    } else {
      begun.whenDone(() -> loop.execute(() -> answerOrFail(begun)));
    }
  }

  private void answerOrFail(PromptDispatcher.Exchange exchange) {
    try {
      answer(exchange);
    } catch (IOException | RuntimeException | Error e) {
      // Errors too: the loop must outlive whatever one connection does.
      fail(e);
    }
  }

  private void answer(PromptDispatcher.Exchange exchange) throws IOException {
    answering = true;
    ByteBuffer text = dispatcher.answer(exchange, loop.buffer());
    if (key == null) {
      end();
    } else {
      write(text);
    }
  }

  /** Writes what the client takes, and the rest when it takes more. */
  private void write(ByteBuffer text) throws IOException {
    SelectionKey current = Objects.requireNonNull(key);
    connection.writing();
    channel.write(text);
    if (text.hasRemaining()) {
      if (unwritten == null) {
        // The text is in the loop's buffer, which is for what is done with it at once.
        unwritten = ByteBuffer.allocate(text.remaining()).put(text).flip();
      }
      current.interestOps(SelectionKey.OP_WRITE);
    } else {
      unwritten = null;
      end();
      if (current.interestOps() != SelectionKey.OP_READ) {
        current.interestOps(SelectionKey.OP_READ);
      }
    }
  }

  private void end() {
    if (asked != null) {
      dispatcher.end(asked);
      asked = null;
      answering = false;
    }
  }

  private void giveBack() {
    release();
    byte[] bytes = inbox.drain();
    loop.afterForgetting(() -> returned.complete(bytes));
  }

  private void fail(Throwable failure) {
    release();
    unwritten = null;
    if (answering) {
      end();
    }
    returned.completeExceptionally(failure);
  }

  private void release() {
    if (key != null) {
      key.cancel();
      key = null;
    }
  }
}

package io.millrace.http;

import io.millrace.http.message.Reply;
import io.millrace.http.message.ReplyText;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request that a thread of its own serves: it reads the body from the connection, writes the
 * answer, and gives the connection back to its event loop.
 */
final class RequestThread implements Runnable, PendingWait.Client {
  private static final Logger LOG = LoggerFactory.getLogger(RequestThread.class);

  /** How much of an unwanted body is read after the answer so that the connection can go on. */
  private static final int SKIPPED_BYTES = 64 << 10;

  /** What becomes of the connection. */
  private enum End {
    KEPT,
    LAST,
    CLOSED
  }

  private final Connection connection;
  private final Dispatcher dispatcher;
  private final Request request;
  private final RequestBody body;
  private @Nullable CompletableFuture<byte @Nullable []> ahead;
  private volatile @Nullable Runnable whenGone;
  private End end = End.CLOSED;

  RequestThread(Connection connection, Dispatcher dispatcher, Request request, RequestBody body) {
    this.connection = connection;
    this.dispatcher = dispatcher;
    this.request = request;
    this.body = body;
    request.servedBy(this);
  }

  Connection connection() {
    return connection;
  }

  Request request() {
    return request;
  }

  RequestBody body() {
    return body;
  }

  InFlight inFlight() {
    return dispatcher.inFlight();
  }

  @Override
  public void run() {
    byte[] leftover = null;
    try {
      connection.channel().configureBlocking(true);
      dispatcher.serve(this);
      leftover = end == End.KEPT ? leftover() : null;
    } catch (InterruptedException | IOException | UncheckedIOException e) {
      LOG.trace("a connection ended", e);
      end = End.CLOSED;
    } catch (Throwable e) {
      LOG.error("a connection is closed for a fault of the server", e);
      end = End.CLOSED;
    }
    if (leftover != null) {
      connection.served(leftover);
      return;
    }
    byte[] _ = body.leftover();
    if (end != End.CLOSED && ahead == null) {
      connection.servedLast();
    } else {
      awaitClose();
      connection.abort();
    }
  }

  /** After the last answer: lets the client see it, if a thread of this request reads already. */
  private void awaitClose() {
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (end == End.CLOSED || reading == null) {
      return;
    }
    try {
      connection.channel().shutdownOutput();
      var _ = reading.get(Connection.LINGER.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IOException | ExecutionException | TimeoutException | InterruptedException e) {
      LOG.trace("a connection ended", e);
    }
  }

  /**
   * Writes the answer.
   *
   * @param mayKeep whether the connection may go on afterwards
   * @throws IOException if it cannot be written as a whole
   */
  void write(Reply reply, boolean mayKeep) throws IOException, InterruptedException {
    try {
      writeOpen(reply, mayKeep);
    } finally {
      if (reply instanceof Reply.Streamed streamed) {
        streamed.body().close();
      }
    }
  }

  private void writeOpen(Reply reply, boolean mayKeep) throws IOException, InterruptedException {
    boolean keeps = mayKeep && !request.head().closes() && body.isNearEnd(SKIPPED_BYTES);
    boolean headOnly = request.isHead();
    Output target = new Output(connection);
    switch (reply) {
      case Reply.Whole whole -> {
        ByteBuffer text = ReplyText.of(whole, !keeps, headOnly, ByteBuffer.allocate(0));
        target.write(text.array(), 0, text.limit());
      }
      case Reply.Streamed streamed when headOnly ->
          target.write(ReplyText.head(streamed, streamed.lengthBytes(), !keeps));
      case Reply.Streamed streamed ->
          stream(streamed, new ReplyText.BodyStream(target, streamed, !keeps));
      case Reply.Upgraded _ -> throw new IllegalArgumentException("this is no answer of HTTP");
    }
    // Now the body may be skipped: the client that waits for the answer has it.
    end = keeps && body.skipRest() ? End.KEPT : End.LAST;
  }

  private void stream(Reply.Streamed reply, ReplyText.BodyStream target)
      throws IOException, InterruptedException {
    try {
      reply.body().writeTo(target);
      target.end();
    } catch (RuntimeException | Error e) {
      if (!(e.getCause() instanceof IOException)) {
        LOG.error("the answer to {} broke off", request, e);
      }
      throw new IOException("an answer broke off", e);
    }
  }

  /** Speaks WebSocket on the connection for the rest of its life. */
  void upgrade(Reply.Upgraded upgraded) {
    connection.activity().waitsForEvent(true);
    Upgrade.run(connection, body.leftover(), inFlight(), upgraded);
  }

  /** What has come behind this request; null if the client has closed. */
  private byte @Nullable [] leftover() throws IOException, InterruptedException {
    byte[] behind = body.leftover();
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (reading == null) {
      return behind;
    }
    try {
      byte[] more = reading.get();
      end = more == null ? End.CLOSED : end;
      return more;
    } catch (ExecutionException e) {
      throw new IOException("the connection failed", e.getCause());
    }
  }

  /**
   * Begins to read ahead, and ends {@code wait} on another thread once the connection turns out to
   * be closed. This cannot be seen if the client has sent a further request already.
   */
  @Override
  public void watch(PendingWait wait) {
    connection.activity().waitsForEvent(true);
    Runnable action = () -> wait.end(PendingWait.Cause.CLIENT_GONE);
    whenGone = action;
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (reading == null && body.isLast()) {
      CompletableFuture<byte @Nullable []> begun = new CompletableFuture<>();
      ahead = begun;
      Thread.ofVirtual().name("http-watch").start(() -> readAhead(begun));
    } else if (reading != null && reading.isDone() && isEnd(reading)) {
      action.run();
    }
  }

  @Override
  public void unwatch() {
    whenGone = null;
    connection.activity().waitsForEvent(false);
  }

  private void readAhead(CompletableFuture<byte @Nullable []> begun) {
    try {
      begun.complete(body.readBehind());
    } catch (IOException | RuntimeException e) {
      begun.completeExceptionally(e);
    }
    Runnable action = whenGone;
    if (action != null && isEnd(begun)) {
      action.run();
    }
  }

  private static boolean isEnd(CompletableFuture<byte @Nullable []> done) {
    return done.isCompletedExceptionally() || done.getNow(null) == null;
  }

  /** Writes to the connection, and notes each time that something went out. */
  private static final class Output extends OutputStream {
    private final Connection.Activity activity;
    private final OutputStream target;

    Output(Connection connection) throws IOException {
      this.activity = connection.activity();
      this.target = connection.channel().socket().getOutputStream();
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int count) throws IOException {
      activity.touch();
      target.write(source, offset, count);
      activity.touch();
    }
  }
}

package io.millrace.http;

import io.millrace.http.message.Response;
import io.millrace.http.message.ResponseEncoder;
import io.millrace.http.transport.Transport;
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
 * Serves one request on its own thread: reads the body from the connection, writes the response,
 * and returns the connection to its event loop.
 */
final class RequestThread implements Runnable, PendingWait.Client {
  private static final Logger LOG = LoggerFactory.getLogger(RequestThread.class);

  /** An unread body of up to this length is skipped after the response, to keep the connection. */
  private static final int SKIPPED_BYTES = 64 << 10;

  /** What happens to the connection after the request. */
  private enum End {
    /** It waits for the next request. */
    KEPT,
    /** It is closed once the client has the response. */
    LAST,
    /** It is closed at once. */
    CLOSED
  }

  private final Connection connection;
  private final RequestBody body;
  private Dispatcher dispatcher;
  private Request request;

  /** The bytes after the body, if {@link #watch} reads them; null if the client has closed. */
  private @Nullable CompletableFuture<byte @Nullable []> ahead;

  private volatile @Nullable Runnable whenDisconnected;
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

  AccessCheck access() {
    return dispatcher.access();
  }

  AuditTrail audit() {
    return dispatcher.audit();
  }

  @Override
  public void run() {
    byte[] leftover = null;
    try {
      connection.transport().channel().configureBlocking(true);
      boolean entered = enter();
      dispatcher.serve(this, entered);
      leftover = end == End.KEPT ? leftover() : null;
    } catch (InterruptedException | IOException | UncheckedIOException e) {
      LOG.trace("a connection ended", e);
      end = End.CLOSED;
    } catch (Throwable e) {
      LOG.error("a connection is closed because of an internal error", e);
      end = End.CLOSED;
    }
    if (leftover != null) {
      connection.resumeReading(leftover);
      return;
    }
    byte[] _ = body.leftover();
    if (end != End.CLOSED && ahead == null) {
      connection.lingerAndClose();
    } else {
      awaitClose();
      connection.abort();
    }
  }

  /**
   * Begins the request. If another site is served since its head arrived, that one checks and
   * answers it.
   *
   * @return false if the server is stopping
   */
  private boolean enter() {
    while (!dispatcher.inFlight().enter()) {
      HttpServer.Chosen next = connection.choose(request.head());
      if (next.dispatcher().equals(dispatcher)) {
        return false;
      }
      dispatcher = next.dispatcher();
      request = new Request(request.head(), next.path(), connection.limits(), connection.peer());
      request.servedBy(this);
    }
    connection.servedBy(dispatcher);
    return true;
  }

  /** After the last response, waits until the client closes, if {@link #watch} is reading. */
  private void awaitClose() {
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (end == End.CLOSED || reading == null) {
      return;
    }
    try {
      connection.transport().shutdownOutput();
      var _ = reading.get(Connection.LINGER.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IOException | ExecutionException | TimeoutException | InterruptedException e) {
      LOG.trace("a connection ended", e);
    }
  }

  /**
   * Writes the response.
   *
   * @param mayKeep whether the connection may be kept afterwards
   * @throws IOException if it cannot be written completely
   */
  void write(Response response, boolean mayKeep) throws IOException, InterruptedException {
    try {
      writeOpen(response, mayKeep);
    } finally {
      if (response instanceof Response.Streamed streamed) {
        streamed.body().close();
      }
    }
  }

  private void writeOpen(Response response, boolean mayKeep)
      throws IOException, InterruptedException {
    boolean keeps = mayKeep && !request.head().closes() && body.isNearEnd(SKIPPED_BYTES);
    boolean headOnly = request.isHead();
    Output target = new Output(connection);
    switch (response) {
      case Response.Whole whole -> {
        ByteBuffer text = ResponseEncoder.encode(whole, !keeps, headOnly, ByteBuffer.allocate(0));
        target.write(text.array(), 0, text.limit());
      }
      case Response.Streamed streamed when headOnly ->
          target.write(ResponseEncoder.head(streamed, streamed.lengthBytes(), !keeps));
      case Response.Streamed streamed ->
          stream(streamed, new ResponseEncoder.BodyStream(target, streamed, !keeps));
      case Response.Upgraded _ ->
          throw new IllegalArgumentException("this response switches the protocol");
    }
    // The rest of the body is skipped only now, because the client may wait for the response first.
    end = keeps && body.skipRest() ? End.KEPT : End.LAST;
  }

  private void stream(Response.Streamed response, ResponseEncoder.BodyStream target)
      throws IOException, InterruptedException {
    try {
      response.body().writeTo(target);
      target.end();
    } catch (RuntimeException | Error e) {
      if (!(e.getCause() instanceof IOException)) {
        LOG.error("the response to {} is incomplete", request, e);
      }
      throw new IOException("a response is incomplete", e);
    }
  }

  /** Runs a WebSocket on the connection until it is closed. */
  void upgrade(Response.Upgraded upgraded) {
    connection.activity().waitsForEvent(true);
    Upgrade.run(connection, body.leftover(), inFlight(), request.caller().validity(), upgraded);
  }

  /** The bytes received after this request; null if the client has closed. */
  private byte @Nullable [] leftover() throws IOException, InterruptedException {
    byte[] received = body.leftover();
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (reading == null) {
      return received;
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
   * Reads ahead on another thread, which ends {@code wait} when the client closes the connection.
   * This is not detected if the client has already sent another request.
   */
  @Override
  public void watch(PendingWait wait) {
    connection.activity().waitsForEvent(true);
    Runnable action = () -> wait.end(PendingWait.Cause.CLIENT_GONE);
    whenDisconnected = action;
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (reading == null && body.isAtEnd()) {
      CompletableFuture<byte @Nullable []> begun = new CompletableFuture<>();
      ahead = begun;
      Thread.ofVirtual().name("http-watch").start(() -> readAhead(begun));
    } else if (reading != null && reading.isDone() && isEnd(reading)) {
      action.run();
    }
  }

  @Override
  public void unwatch() {
    whenDisconnected = null;
    connection.activity().waitsForEvent(false);
  }

  private void readAhead(CompletableFuture<byte @Nullable []> begun) {
    try {
      begun.complete(body.readNext());
    } catch (IOException | RuntimeException e) {
      begun.completeExceptionally(e);
    }
    Runnable action = whenDisconnected;
    if (action != null && isEnd(begun)) {
      action.run();
    }
  }

  private static boolean isEnd(CompletableFuture<byte @Nullable []> done) {
    return done.isCompletedExceptionally() || done.getNow(null) == null;
  }

  /** Writes to the connection and notes its activity. */
  private static final class Output extends OutputStream {
    private final ConnectionActivity activity;
    private final Transport transport;

    Output(Connection connection) {
      this.activity = connection.activity();
      this.transport = connection.transport();
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int count) throws IOException {
      activity.touch();
      transport.send(ByteBuffer.wrap(source, offset, count));
      activity.touch();
    }
  }
}

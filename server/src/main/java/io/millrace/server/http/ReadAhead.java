package io.millrace.server.http;

import io.helidon.common.socket.HelidonSocket;
import io.helidon.webserver.ServerConnectionException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that a client sends, as far as the library gets to see them: where it asks for a new
 * request, plain ones are served without it first.
 *
 * <p>There is the possibility to read on while a request is being answered: that is how a closed
 * connection is noticed. What was read ahead comes with the next get.
 *
 * <p>One thread, the connection's, calls every method.
 */
final class ReadAhead implements Supplier<byte @Nullable []> {
  private final HelidonSocket socket;
  private final Others others;
  private boolean atRequest = true;
  private volatile long lastReadNanos = System.nanoTime();
  private @Nullable CompletableFuture<byte @Nullable []> ahead;
  private volatile @Nullable Runnable whenGone;

  ReadAhead(HelidonSocket socket, Others others) {
    this.socket = socket;
    this.others = others;
  }

  /** Serves the requests that need no thread. */
  @FunctionalInterface
  interface Others {
    /** The first bytes of a request that is another's; null when the client has closed. */
    byte @Nullable [] serve() throws IOException, InterruptedException;
  }

  /** Notes that the next bytes begin a request. */
  void atRequest() {
    atRequest = true;
  }

  /** Notes that bytes have come. */
  void heard() {
    lastReadNanos = System.nanoTime();
  }

  /** When bytes came last, or were expected for the first time. */
  long lastReadNanos() {
    return lastReadNanos;
  }

  /** The next bytes, at least one; null when the client has closed the connection. */
  @Override
  public byte @Nullable [] get() {
    CompletableFuture<byte @Nullable []> reading = ahead;
    byte[] bytes = reading == null ? next() : await(reading);
    ahead = null;
    atRequest = false;
    heard();
    return bytes;
  }

  /**
   * Begins to read ahead, and runs {@code action} on another thread once the connection turns out
   * to be closed. Where the client has sent a further request already this cannot be seen.
   */
  void watch(Runnable action) {
    whenGone = action;
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (reading == null) {
      CompletableFuture<byte @Nullable []> begun = new CompletableFuture<>();
      ahead = begun;
      Thread.ofVirtual().name("watch " + socket.childSocketId()).start(() -> readAhead(begun));
    } else if (reading.isDone() && isEnd(reading)) {
      action.run();
    }
  }

  /** Runs no action any more. */
  void unwatch() {
    whenGone = null;
  }

  private void readAhead(CompletableFuture<byte @Nullable []> begun) {
    try {
      begun.complete(read());
    } catch (RuntimeException e) {
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

  private byte @Nullable [] next() {
    if (!atRequest) {
      return read();
    }
    try {
      return others.serve();
    } catch (IOException e) {
      throw new ServerConnectionException("the connection failed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerConnectionException("the connection is being closed", e);
    }
  }

  private byte @Nullable [] read() {
    try {
      return socket.get();
    } catch (UncheckedIOException e) {
      throw new ServerConnectionException("the connection failed", e);
    }
  }

  private static byte @Nullable [] await(CompletableFuture<byte @Nullable []> reading) {
    try {
      return reading.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerConnectionException("the connection is being closed", e);
    } catch (ExecutionException e) {
      throw new ServerConnectionException("the connection failed", e);
    }
  }
}

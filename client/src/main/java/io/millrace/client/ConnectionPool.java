package io.millrace.client;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * The connections to one server, one for each concurrent request. The most recently used idle
 * connection is reused first. Thread-safe.
 */
final class ConnectionPool<C extends ConnectionPool.Pooled> {
  private final Connector<C> connector;
  private final ConcurrentLinkedDeque<C> idle = new ConcurrentLinkedDeque<>();
  private final ConcurrentHashMap.KeySetView<C, Boolean> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  ConnectionPool(Connector<C> connector) {
    this.connector = connector;
  }

  /** Opens new connections. */
  @FunctionalInterface
  interface Connector<C> {
    /**
     * Opens a connection.
     *
     * @throws NotSentException if that fails
     */
    C connect() throws NotSentException;
  }

  /** A connection that can be reused. */
  interface Pooled {
    /** Whether it can serve another request. */
    boolean isReusable();

    /** Records that the connection is idle from {@code nanos} on. */
    void idleSince(long nanos);

    /** Whether it was idle for so long that the server may be about to close it. */
    boolean idleTooLong(long nanos);

    /**
     * Whether the connection can be used after it was idle.
     *
     * @param certain whether to check even if it was idle only for a short time
     */
    boolean isUsable(long nanos, boolean certain);

    /** Closes the connection at once, even if another thread is waiting for a response. */
    void cut();
  }

  /**
   * Takes a connection for a request that {@code call} can cancel. The caller must release the
   * connection.
   *
   * @param certain whether to check that an idle connection still works, which takes a millisecond;
   *     for requests that must not be repeated
   * @throws NotSentException if none can be opened, the call is cancelled, or the pool is closed
   */
  C lease(Call call, boolean certain) throws NotSentException {
    C connection = take(certain);
    try {
      call.begin(connection);
      if (closed) {
        throw new NotSentException("the client is closed", null);
      }
      return connection;
    } catch (NotSentException e) {
      release(connection, call);
      throw e;
    }
  }

  private C take(boolean certain) throws NotSentException {
    for (C one = idle.poll(); one != null; one = idle.poll()) {
      if (one.isUsable(System.nanoTime(), certain)) {
        return one;
      }
      drop(one);
    }
    C fresh = connector.connect();
    open.add(fresh);
    return fresh;
  }

  private void drop(C connection) {
    open.remove(connection);
    connection.cut();
  }

  /** Returns a connection to the pool. It is cut if it cannot be reused. */
  void release(C connection, Call call) {
    call.end();
    if (closed || !connection.isReusable()) {
      drop(connection);
      return;
    }
    long now = System.nanoTime();
    connection.idleSince(now);
    idle.push(connection);
    // After a peak, the connections at the bottom are never reused: each release closes one.
    C oldest = idle.peekLast();
    if (oldest != null && oldest.idleTooLong(now) && idle.remove(oldest)) {
      drop(oldest);
    }
  }

  /** Cuts all connections: running requests fail, and later ones are not sent. */
  void close() {
    closed = true;
    // A connection that is being opened is cut by the request that opens it.
    open.forEach(Pooled::cut);
  }

  boolean isClosed() {
    return closed;
  }

  /** A request that can be cancelled. Thread-safe. */
  static final class Call {
    private @Nullable Pooled connection;
    private boolean cancelled;

    private synchronized void begin(Pooled leased) throws NotSentException {
      if (cancelled) {
        throw new NotSentException("the call was cancelled", null);
      }
      connection = leased;
    }

    private synchronized void end() {
      connection = null;
    }

    /** Cancels the request: cuts its connection, so that the server notices. */
    synchronized void cancel() {
      cancelled = true;
      if (connection != null) {
        connection.cut();
      }
    }

    synchronized boolean isCancelled() {
      return cancelled;
    }
  }
}

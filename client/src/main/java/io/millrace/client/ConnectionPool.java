package io.millrace.client;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * The connections to one server. There are as many as there are requests at a time; idle ones are
 * used again, the last used first. Safe for use by threads.
 */
final class ConnectionPool<C extends ConnectionPool.Pooled> {
  private final Connector<C> connector;
  private final ConcurrentLinkedDeque<C> idle = new ConcurrentLinkedDeque<>();
  private final ConcurrentHashMap.KeySetView<C, Boolean> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  ConnectionPool(Connector<C> connector) {
    this.connector = connector;
  }

  /** Makes new connections. */
  @FunctionalInterface
  interface Connector<C> {
    /**
     * A new connection.
     *
     * @throws NotSentException if none can be made
     */
    C connect() throws NotSentException;
  }

  /** A connection that is used again. */
  interface Pooled {
    /** Whether another request may follow. */
    boolean isReusable();

    /** Notes that it is idle from {@code nanos} on. */
    void idleSince(long nanos);

    /** Whether the server may be about to close it because it has been idle for so long. */
    boolean idleTooLong(long nanos);

    /**
     * Whether it can be used after it was idle.
     *
     * @param certain whether to look even if it was idle only for a moment
     */
    boolean isUsable(long nanos, boolean certain);

    /** Closes it at once, even while another thread waits for an answer on it. */
    void cut();
  }

  /**
   * Takes a connection for a request that {@code call} may give up. It must be released.
   *
   * @param certain whether to look if an idle connection still stands, which takes a millisecond;
   *     for requests that cannot be sent again
   * @throws NotSentException if none can be made, or the call was given up, or this is closed
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

  /** Gives a leased connection back, which is cut unless it can be used again. */
  void release(C connection, Call call) {
    call.end();
    if (closed || !connection.isReusable()) {
      drop(connection);
      return;
    }
    long now = System.nanoTime();
    connection.idleSince(now);
    idle.push(connection);
    // After a peak the deepest are never taken again: let one of them go with each release.
    C oldest = idle.peekLast();
    if (oldest != null && oldest.idleTooLong(now) && idle.remove(oldest)) {
      drop(oldest);
    }
  }

  /** Cuts every connection; requests under way fail, later ones are not sent. */
  void close() {
    closed = true;
    // One that is opened meanwhile is cut by the request that opened it.
    open.forEach(Pooled::cut);
  }

  boolean isClosed() {
    return closed;
  }

  /** A request under way, which may be given up. Safe for use by threads. */
  static final class Call {
    private @Nullable Pooled connection;
    private boolean givenUp;

    private synchronized void begin(Pooled leased) throws NotSentException {
      if (givenUp) {
        throw new NotSentException("the call was given up", null);
      }
      connection = leased;
    }

    private synchronized void end() {
      connection = null;
    }

    /** Cuts the connection of the call, which tells the server, and allows no other. */
    synchronized void giveUp() {
      givenUp = true;
      if (connection != null) {
        connection.cut();
      }
    }

    synchronized boolean isGivenUp() {
      return givenUp;
    }
  }
}

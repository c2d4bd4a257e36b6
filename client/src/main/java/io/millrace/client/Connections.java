package io.millrace.client;

import java.io.IOException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * The connections to one server. There are as many as there are requests at a time; those that rest
 * are used again, the last used first. Safe for use by threads.
 */
final class Connections {
  private final Server server;
  private final ConcurrentLinkedDeque<Connection> resting = new ConcurrentLinkedDeque<>();
  private final ConcurrentHashMap.KeySetView<Connection, Boolean> busy =
      ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  Connections(Server server) {
    this.server = server;
  }

  /**
   * Sends a request over a connection that {@code call} may cut, and reads the answer.
   *
   * @throws NotSentException when the server cannot have seen it
   * @throws IOException when it may have seen it and no answer came
   */
  Answer exchange(Request request, Call call) throws IOException {
    Connection connection = take();
    try {
      busy.add(connection);
      call.begin(connection);
      if (closed) {
        throw new NotSentException("the client is closed", null);
      }
      return connection.exchange(request);
    } finally {
      call.end();
      busy.remove(connection);
      giveBack(connection);
    }
  }

  private Connection take() throws NotSentException {
    for (Connection one = resting.poll(); one != null; one = resting.poll()) {
      if (one.fresh(System.nanoTime())) {
        return one;
      }
      one.cut();
    }
    return server.connect();
  }

  private void giveBack(Connection connection) {
    if (closed || !connection.reusable()) {
      connection.cut();
      return;
    }
    long now = System.nanoTime();
    connection.rest(now);
    resting.push(connection);
    // After a rush the deepest are never taken again: let one of them go with each return.
    Connection oldest = resting.peekLast();
    if (oldest != null && oldest.restedTooLong(now) && resting.remove(oldest)) {
      oldest.cut();
    }
    if (closed) {
      cutAll();
    }
  }

  /** Cuts every connection; requests under way fail, later ones are not sent. */
  void close() {
    closed = true;
    cutAll();
  }

  private void cutAll() {
    resting.forEach(Connection::cut);
    resting.clear();
    busy.forEach(Connection::cut);
  }

  boolean closed() {
    return closed;
  }

  /** What somebody waits for, and may give up. Safe for use by threads. */
  static final class Call {
    private @Nullable Connection connection;
    private boolean givenUp;

    private synchronized void begin(Connection connection) throws NotSentException {
      if (givenUp) {
        throw new NotSentException("the call was given up", null);
      }
      this.connection = connection;
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

    synchronized boolean givenUp() {
      return givenUp;
    }
  }
}

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
  private final Dial dial;
  private final ConcurrentLinkedDeque<Pooled> resting = new ConcurrentLinkedDeque<>();
  private final ConcurrentHashMap.KeySetView<Pooled, Boolean> busy = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  Connections(Dial dial) {
    this.dial = dial;
  }

  /** Makes new connections. */
  @FunctionalInterface
  interface Dial {
    /**
     * A new connection.
     *
     * @throws NotSentException when there is none to be had
     */
    Pooled connect() throws NotSentException;
  }

  /** A connection that is used again. */
  interface Pooled {
    /**
     * Sends a request and reads the whole answer.
     *
     * @throws IOException when the connection broke, so that it is unknown what the server did
     */
    Answer exchange(Request request) throws IOException;

    /** Whether another request may follow. */
    boolean reusable();

    /** Notes that nobody uses it from {@code nanos} on. */
    void rest(long nanos);

    /** Whether the server may be about to close it for its idleness. */
    boolean restedTooLong(long nanos);

    /** Whether it can be used after its rest. */
    boolean fresh(long nanos);

    /** Closes it at once, also while another thread waits for its answer. */
    void cut();
  }

  /**
   * Sends a request over a connection that {@code call} may cut, and reads the answer.
   *
   * @throws NotSentException when the server cannot have seen it
   * @throws IOException when it may have seen it and no answer came
   */
  Answer exchange(Request request, Call call) throws IOException {
    Pooled connection = take();
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

  private Pooled take() throws NotSentException {
    for (Pooled one = resting.poll(); one != null; one = resting.poll()) {
      if (one.fresh(System.nanoTime())) {
        return one;
      }
      one.cut();
    }
    return dial.connect();
  }

  private void giveBack(Pooled connection) {
    if (closed || !connection.reusable()) {
      connection.cut();
      return;
    }
    long now = System.nanoTime();
    connection.rest(now);
    resting.push(connection);
    // After a rush the deepest are never taken again: let one of them go with each return.
    Pooled oldest = resting.peekLast();
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
    // One by one: what is given back meanwhile must not go without being cut.
    for (Pooled one = resting.poll(); one != null; one = resting.poll()) {
      one.cut();
    }
    busy.forEach(Pooled::cut);
  }

  boolean closed() {
    return closed;
  }

  /** What somebody waits for, and may give up. Safe for use by threads. */
  static final class Call {
    private @Nullable Pooled connection;
    private boolean givenUp;

    private synchronized void begin(Pooled connection) throws NotSentException {
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

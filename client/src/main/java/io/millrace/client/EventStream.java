package io.millrace.client;

import java.io.EOFException;
import java.io.IOException;

/**
 * Events that a server sends for as long as it is listened to. For one thread; any may close it.
 */
public final class EventStream implements AutoCloseable {
  private final Connection connection;
  private final Events events;

  EventStream(Connection connection, Events events) {
    this.connection = connection;
    this.events = events;
  }

  /**
   * The data of the next event, waiting for it.
   *
   * @return UTF-8, not a copy
   * @throws EOFException when the server ended the stream
   * @throws IOException when the connection broke, was closed, or was silent for too long
   */
  public byte[] next() throws IOException {
    return events.next().data();
  }

  /** Cuts the connection. */
  @Override
  public void close() {
    connection.cut();
  }
}

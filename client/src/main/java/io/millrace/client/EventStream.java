package io.millrace.client;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** A stream of server-sent events. For use by one reading thread; any thread may close it. */
public final class EventStream implements AutoCloseable {
  private final InputStream stream;
  private final byte[] buffer = new byte[1 << 15];
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private int from;
  private int to;
  private boolean afterReturn;

  /** Reads events from a stream that any thread may close. */
  EventStream(InputStream stream) {
    this.stream = stream;
  }

  /** An event. Not a record, because a record compares arrays by identity. */
  static final class Event {
    private final String name;
    private final byte[] data;

    private Event(String name, byte[] data) {
      this.name = name;
      this.data = data;
    }

    /** The name; "message" if the server sent none. */
    String name() {
      return name;
    }

    /** The data, with its lines joined by line feeds. */
    byte[] data() {
      return data;
    }
  }

  /**
   * Waits for the next event and returns its data.
   *
   * @return UTF-8, not a copy
   * @throws EOFException if the server ended the stream
   * @throws IOException if the connection broke, was closed, or was silent for too long
   */
  public byte[] next() throws IOException {
    return nextEvent().data();
  }

  /** Waits for the next event with data. Skips comments. Throws what {@link #next()} throws. */
  Event nextEvent() throws IOException {
    String name = "message";
    ByteArrayOutputStream data = null;
    while (true) {
      byte[] read = line();
      if (read.length == 0) {
        if (data != null) {
          return new Event(name, data.toByteArray());
        }
        name = "message";
        continue;
      }
      int colon = 0;
      while (colon < read.length && read[colon] != ':') {
        colon++;
      }
      // One space after the colon is not part of the value.
      int space = colon + 1 < read.length && read[colon + 1] == ' ' ? 1 : 0;
      int value = Math.min(read.length, colon + 1 + space);
      switch (new String(read, 0, colon, StandardCharsets.UTF_8)) {
        case "data" -> {
          if (data == null) {
            data = new ByteArrayOutputStream(read.length);
          } else {
            data.write('\n');
          }
          data.write(read, value, read.length - value);
        }
        case "event" -> name = new String(read, value, read.length - value, StandardCharsets.UTF_8);
        default -> {
          // A comment, or an unused field.
        }
      }
    }
  }

  /** The next line without its end, which is a line feed, a carriage return or both. */
  private byte[] line() throws IOException {
    line.reset();
    while (true) {
      if (from == to) {
        to = stream.read(buffer);
        from = 0;
        if (to < 0) {
          to = 0;
          throw new EOFException("the stream of events ended");
        }
      }
      if (afterReturn) {
        afterReturn = false;
        if (buffer[from] == '\n') {
          from++;
          continue;
        }
      }
      int end = from;
      while (end < to && buffer[end] != '\n' && buffer[end] != '\r') {
        end++;
      }
      line.write(buffer, from, end - from);
      from = end;
      if (end < to) {
        afterReturn = buffer[end] == '\r';
        from++;
        return line.toByteArray();
      }
    }
  }

  /** Cuts the connection. */
  @Override
  public void close() {
    try {
      stream.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close the stream of events", e);
    }
  }
}

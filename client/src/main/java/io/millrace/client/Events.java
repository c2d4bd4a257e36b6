package io.millrace.client;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Reads server-sent events from a stream. */
final class Events {
  private final InputStream stream;
  private final byte[] buffer = new byte[1 << 15];
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private int from;
  private int to;
  private boolean afterReturn;

  Events(InputStream stream) {
    this.stream = stream;
  }

  /** An event. A class, since an array in a record would not be a value. */
  static final class Event {
    private final String name;
    private final byte[] data;

    private Event(String name, byte[] data) {
      this.name = name;
      this.data = data;
    }

    /** What it is; "message" where it does not say. */
    String name() {
      return name;
    }

    /** Its data, lines joined by line feeds. */
    byte[] data() {
      return data;
    }
  }

  /**
   * The next event with data, waiting for it. Comments are passed over.
   *
   * @throws EOFException when the stream ended
   */
  Event next() throws IOException {
    String name = "message";
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    boolean hasData = false;
    while (true) {
      byte[] line = line();
      if (line.length == 0) {
        if (hasData) {
          return new Event(name, data.toByteArray());
        }
        name = "message";
      } else if (is(line, "data")) {
        if (hasData) {
          data.write('\n');
        }
        hasData = true;
        int from = valueAt(line, "data");
        data.write(line, from, line.length - from);
      } else if (is(line, "event")) {
        int from = valueAt(line, "event");
        name = new String(line, from, line.length - from, StandardCharsets.UTF_8);
      }
    }
  }

  private static boolean is(byte[] line, String field) {
    if (line.length < field.length()
        || (line.length > field.length() && line[field.length()] != ':')) {
      return false;
    }
    for (int i = 0; i < field.length(); i++) {
      if (line[i] != field.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Where a field's value begins: one space after the colon belongs to neither. */
  private static int valueAt(byte[] line, String field) {
    int at = Math.min(line.length, field.length() + 1);
    return at < line.length && line[at] == ' ' ? at + 1 : at;
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
}

package io.millrace.http;

import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.transport.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request that a thread serves, read from the connection as a stream. It has a length
 * or is chunked. Chunks are parsed strictly: a size consists only of hexadecimal digits, the data
 * is followed by CR and LF, and there are no extensions and no trailers. A body that is slower than
 * its {@link Pace} is an error. For use by one thread.
 */
final class RequestBody extends InputStream {
  /** Whether reading has failed, and why. */
  enum State {
    /** No failure. */
    OK,
    /** The chunks are malformed, so the rest of the connection cannot be parsed. */
    MALFORMED,
    /** The client has closed the connection, or it failed. */
    DISCONNECTED,
    /** The client sends too slowly. */
    SLOW
  }

  private static final byte[] CONTINUE =
      "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NONE = new byte[0];
  private static final int BUFFER_BYTES = 1 << 10;
  private static final int MAX_SIZE_DIGITS = 15;
  private static final long UNKNOWN = -1;

  private final RequestMemory memory;
  private final ConnectionActivity activity;
  private final Transport transport;
  private final Pace pace;

  /** Bytes that have been received; those from {@code at} on have not been read yet. */
  private byte[] buffer;

  private int at;
  private int reservedBytes;

  /** The rest of the body or of the current chunk; {@link #UNKNOWN} before the first chunk. */
  private long left;

  private final boolean chunked;
  private boolean awaitsContinue;
  private boolean ended;
  private State state = State.OK;
  private String problem = "";

  /**
   * The body of a request.
   *
   * @param begun the part that has arrived, or more
   * @param reservedBytes the memory reserved for head and body, which {@link #leftover} releases
   */
  RequestBody(Connection connection, Head head, byte[] begun, int reservedBytes) {
    this.memory = connection.memory();
    this.activity = connection.activity();
    this.transport = connection.transport();
    HttpLimits limits = connection.limits();
    this.pace = new Pace(limits.headTimeout(), limits.minBodyRate());
    this.buffer = begun;
    this.reservedBytes = reservedBytes;
    this.chunked = head.bodyBytes() == Head.CHUNKED;
    this.left = chunked ? UNKNOWN : head.bodyBytes();
    this.awaitsContinue = head.expectsContinue() && buffer.length == 0 && left != 0;
    this.ended = left == 0;
  }

  /** The response to a body that is too slow. */
  static HttpProblem tooSlow(HttpLimits limits) {
    return new HttpProblem(
        408,
        "the body of the request arrived more slowly than "
            + limits.minBodyRate()
            + " bytes a second (server.min-body-rate)");
  }

  State state() {
    return state;
  }

  /** What is wrong with a malformed body. */
  String problem() {
    return problem;
  }

  /** Whether at most {@code maxBytes} are left, so that skipping them keeps the connection. */
  boolean isNearEnd(int maxBytes) {
    return ended || (!chunked && left <= maxBytes && !awaitsContinue && state == State.OK);
  }

  /** Reads and drops the rest. Returns false if that failed. */
  boolean skipRest() {
    byte[] dropped = new byte[BUFFER_BYTES];
    try {
      while (read(dropped, 0, dropped.length) >= 0) {
        // Dropped.
      }
      return true;
    } catch (IOException _) {
      return false;
    }
  }

  /** Ends the body: releases its memory and returns the bytes received after it. */
  byte[] leftover() {
    byte[] rest = at == 0 ? buffer : Arrays.copyOfRange(buffer, at, buffer.length);
    drop();
    memory.release(reservedBytes);
    reservedBytes = 0;
    return rest;
  }

  private void drop() {
    buffer = NONE;
    at = 0;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (state != State.OK) {
      throw new IOException("the body could not be read");
    }
    if (length == 0) {
      return 0;
    }
    if (chunked && left <= 0 && !ended) {
      beginChunk();
    }
    if (ended) {
      return -1;
    }
    int count = readSome(target, offset, (int) Math.min(length, left));
    left -= count;
    ended = left == 0 && !chunked;
    return count;
  }

  private int readSome(byte[] target, int offset, int length) throws IOException {
    int buffered = buffer.length - at;
    if (buffered == 0) {
      return receive(target, offset, length);
    }
    int count = Math.min(buffered, length);
    System.arraycopy(buffer, at, target, offset, count);
    at += count;
    if (at == buffer.length) {
      drop();
    }
    return count;
  }

  /** Reads the lines between the data of two chunks. */
  private void beginChunk() throws IOException {
    if (left == 0 && (next() != '\r' || next() != '\n')) {
      throw malformed("the data of a chunk is longer than its size");
    }
    String size = line();
    if (size.isEmpty()
        || size.length() > MAX_SIZE_DIGITS
        || !size.chars().allMatch(digit -> Character.digit(digit, 16) >= 0 && digit < 0x7f)) {
      throw malformed("the size of a chunk must consist only of hexadecimal digits");
    }
    left = Long.parseLong(size, 16);
    if (left == 0) {
      if (!line().isEmpty()) {
        throw malformed("something follows the last chunk; trailers are not supported");
      }
      ended = true;
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int letter = next(); letter != '\r'; letter = next()) {
      if (letter == '\n' || line.length() > MAX_SIZE_DIGITS) {
        throw malformed("the size of a chunk must be hexadecimal digits followed by CR and LF");
      }
      line.append((char) letter);
    }
    if (next() != '\n') {
      throw malformed("the size of a chunk must be hexadecimal digits followed by CR and LF");
    }
    return line.toString();
  }

  private int next() throws IOException {
    if (at == buffer.length) {
      byte[] more = new byte[BUFFER_BYTES];
      int count = receive(more, 0, more.length);
      buffer = Arrays.copyOf(more, count);
      at = 0;
    }
    return buffer[at++] & 0xff;
  }

  private IOException malformed(String what) {
    state = State.MALFORMED;
    problem = what;
    return new IOException("the body is malformed: " + what);
  }

  /** Waits for bytes from the client. Returns their number, at least one. */
  private int receive(byte[] target, int offset, int length) throws IOException {
    if (awaitsContinue) {
      awaitsContinue = false;
      writeContinue();
    }
    activity.touch();
    activity.awaitsBytes(true);
    try {
      while (true) {
        long began = System.nanoTime();
        int count = receive(target, offset, length, pace.leftNanos());
        if (count < 0) {
          state = State.DISCONNECTED;
          throw new IOException("the client stopped sending");
        }
        activity.touch();
        if (!pace.waited(System.nanoTime() - began, count)) {
          state = State.SLOW;
          throw new IOException("the client sends too slowly");
        }
        if (count > 0) {
          return count;
        }
      }
    } finally {
      activity.awaitsBytes(false);
    }
  }

  /** Returns 0 if nothing has arrived within {@code nanos}, or too little to be decrypted. */
  private int receive(byte[] target, int offset, int length, long nanos) throws IOException {
    long millis = nanos == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(nanos) + 1;
    try {
      return transport.receive(
          ByteBuffer.wrap(target, offset, length), (int) Math.min(millis, Integer.MAX_VALUE));
    } catch (IOException e) {
      state = State.DISCONNECTED;
      throw e;
    }
  }

  private void writeContinue() throws IOException {
    try {
      transport.send(ByteBuffer.wrap(CONTINUE));
    } catch (IOException e) {
      state = State.DISCONNECTED;
      throw e;
    }
  }

  /** Whether it has ended and nothing has been received after it. */
  boolean isAtEnd() {
    return ended && at == buffer.length;
  }

  /** Waits, without a timeout, for bytes after the body; null if the client has closed. */
  byte @Nullable [] readNext() throws IOException {
    byte[] more = new byte[BUFFER_BYTES];
    int count = transport.await(ByteBuffer.wrap(more));
    return count < 0 ? null : Arrays.copyOf(more, count);
  }

  /**
   * Checks that a body is fast enough: within each window of time that the server spends waiting
   * for it, a minimum number of bytes must arrive. Time during which the server does not wait does
   * not count. For use by one thread at a time.
   */
  static final class Pace {
    private final long windowNanos;
    private final long minBytes;
    private long waitedNanos;
    private long bytes;

    /**
     * The pace of a body that is about to arrive.
     *
     * @param window the length of a window
     * @param bytesPerSecond the smallest average rate within a window; 0 for no minimum
     */
    Pace(Duration window, long bytesPerSecond) {
      this.windowNanos = window.toNanos();
      this.minBytes = (long) Math.ceil(bytesPerSecond * (windowNanos / 1e9));
    }

    /**
     * The rest of the current window of waiting, at least 1; {@code Long.MAX_VALUE} for no minimum.
     */
    long leftNanos() {
      return minBytes == 0 ? Long.MAX_VALUE : Math.max(1, windowNanos - waitedNanos);
    }

    /**
     * Counts a wait and the bytes that arrived at its end, possibly none.
     *
     * @return false if the body is too slow
     */
    boolean waited(long nanos, long count) {
      waitedNanos += nanos;
      bytes += count;
      if (minBytes == 0 || bytes >= minBytes) {
        waitedNanos = 0;
        bytes = 0;
        return true;
      }
      return waitedNanos < windowNanos;
    }
  }
}

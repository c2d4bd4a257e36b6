package io.millrace.http;

import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request that a thread serves, read from its connection piece by piece. It is framed
 * by a length or by chunks, strictly: a chunk's size is hexadecimal digits alone, its data is
 * followed by CR and LF, and there are neither extensions nor trailers. It must keep a minimum
 * {@link Pace}. For use by one thread.
 */
final class RequestBody extends InputStream {
  /** How reading has gone so far. */
  enum State {
    /** Well. */
    SOUND,
    /** What was sent is no body: whatever follows on the connection means nothing. */
    MALFORMED,
    /** The client stopped sending. */
    CUT,
    /** The client sends too slowly. */
    SLOW
  }

  private static final byte[] CONTINUE =
      "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NONE = new byte[0];
  private static final int BUFFER_BYTES = 1 << 10;
  private static final int MOST_SIZE_DIGITS = 15;
  private static final long UNKNOWN = -1;

  private final RequestMemory memory;
  private final Connection.Activity activity;
  private final SocketChannel channel;
  private final Pace pace;

  /** Bytes that were read but not used yet, from {@code at} on. */
  private byte[] buffer;

  private int at;
  private int reservedBytes;

  /** How much is left of the body or of the chunk; unknown before a chunk's first byte. */
  private long left;

  private final boolean chunked;
  private boolean awaitsContinue;
  private boolean ended;
  private State state = State.SOUND;
  private String mistake = "";

  /**
   * The body of a request.
   *
   * @param begun what has come of it
   * @param reservedBytes what is reserved for head and body, released when the request is over
   */
  RequestBody(Connection connection, Head head, byte[] begun, int reservedBytes) {
    this.memory = connection.memory();
    this.activity = connection.activity();
    this.channel = connection.channel();
    HttpLimits limits = connection.limits();
    this.pace = new Pace(limits.headTimeout(), limits.minBodyRate());
    this.buffer = begun;
    this.reservedBytes = reservedBytes;
    this.chunked = head.bodyBytes() == Head.CHUNKED;
    this.left = chunked ? UNKNOWN : head.bodyBytes();
    this.awaitsContinue = head.expectsContinue() && buffer.length == 0 && left != 0;
    this.ended = left == 0;
  }

  /** What to answer to a body that comes too slowly. */
  static HttpProblem tooSlow(HttpLimits limits) {
    return new HttpProblem(
        408,
        "the body of the request came more slowly than "
            + limits.minBodyRate()
            + " bytes a second (server.min-body-rate)");
  }

  State state() {
    return state;
  }

  /** What is wrong with a malformed body. */
  String mistake() {
    return mistake;
  }

  /** Whether so little is left, as far as known, that it is worth reading to keep a connection. */
  boolean isNearEnd(int mostBytes) {
    return ended || (!chunked && left <= mostBytes && !awaitsContinue && state == State.SOUND);
  }

  /** Reads what is left. Returns whether it ended well. */
  boolean skipRest() {
    byte[] dropped = new byte[BUFFER_BYTES];
    try {
      while (read(dropped, 0, dropped.length) >= 0) {
        // It is dropped.
      }
      return true;
    } catch (IOException _) {
      return false;
    }
  }

  /** The bytes that came behind the body; nothing is reserved any more. Called at the end. */
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
    if (state != State.SOUND) {
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
    int there = buffer.length - at;
    if (there == 0) {
      return receive(target, offset, length);
    }
    int count = Math.min(there, length);
    System.arraycopy(buffer, at, target, offset, count);
    at += count;
    if (at == buffer.length) {
      drop();
    }
    return count;
  }

  /** Reads what stands between the data of two chunks. */
  private void beginChunk() throws IOException {
    if (left == 0 && (next() != '\r' || next() != '\n')) {
      throw malformed("a chunk is longer than its size says");
    }
    String size = line();
    if (size.isEmpty()
        || size.length() > MOST_SIZE_DIGITS
        || !size.chars().allMatch(digit -> Character.digit(digit, 16) >= 0 && digit < 0x7f)) {
      throw malformed("the size of a chunk must be hexadecimal digits alone");
    }
    left = Long.parseLong(size, 16);
    if (left == 0) {
      if (!line().isEmpty()) {
        throw malformed("something follows the last chunk; trailers are not taken");
      }
      ended = true;
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int letter = next(); letter != '\r'; letter = next()) {
      if (letter == '\n' || line.length() > MOST_SIZE_DIGITS) {
        throw malformed("the size of a chunk must be hexadecimal digits alone, then CR and LF");
      }
      line.append((char) letter);
    }
    if (next() != '\n') {
      throw malformed("the size of a chunk must be hexadecimal digits alone, then CR and LF");
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
    mistake = what;
    return new IOException("the body is malformed: " + what);
  }

  /** Waits for bytes from the client; at least one. */
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
          state = State.CUT;
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

  /** Returns 0 if nothing has come in time. */
  private int receive(byte[] target, int offset, int length, long nanos) throws IOException {
    long millis = nanos == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(nanos) + 1;
    try {
      channel.socket().setSoTimeout((int) Math.min(millis, Integer.MAX_VALUE));
      return channel.socket().getInputStream().read(target, offset, length);
    } catch (SocketTimeoutException _) {
      return 0;
    } catch (IOException e) {
      state = State.CUT;
      throw e;
    }
  }

  private void writeContinue() throws IOException {
    ByteBuffer text = ByteBuffer.wrap(CONTINUE);
    try {
      while (text.hasRemaining()) {
        channel.write(text);
      }
    } catch (IOException e) {
      state = State.CUT;
      throw e;
    }
  }

  /** Whether it has ended, and nothing came behind it: the next bytes begin another request. */
  boolean isLast() {
    return ended && at == buffer.length;
  }

  /** Waits, however long, for what comes behind the body; null if the client has closed. */
  byte @Nullable [] readBehind() throws IOException {
    byte[] more = new byte[BUFFER_BYTES];
    channel.socket().setSoTimeout(0);
    int count = channel.socket().getInputStream().read(more);
    return count < 0 ? null : Arrays.copyOf(more, count);
  }

  /**
   * Whether a body comes fast enough: in each window of time that the server spends waiting for it,
   * a minimum of bytes must come. Time during which the server does not wait does not count. For
   * use by one thread at a time.
   */
  static final class Pace {
    private final long windowNanos;
    private final long leastBytes;
    private long waitedNanos;
    private long bytes;

    /**
     * A body that is about to come.
     *
     * @param window how long a window is
     * @param bytesPerSecond the least average within a window; 0 for any
     */
    Pace(Duration window, long bytesPerSecond) {
      this.windowNanos = window.toNanos();
      this.leastBytes = (long) Math.ceil(bytesPerSecond * (windowNanos / 1e9));
    }

    /** How much longer the server may wait before it must look again; at least 1 ns. */
    long leftNanos() {
      return leastBytes == 0 ? Long.MAX_VALUE : Math.max(1, windowNanos - waitedNanos);
    }

    /**
     * Notes that bytes have come, or none, after a wait.
     *
     * @return false if the body is too slow
     */
    boolean waited(long nanos, long count) {
      waitedNanos += nanos;
      bytes += count;
      if (leastBytes == 0 || bytes >= leastBytes) {
        waitedNanos = 0;
        bytes = 0;
        return true;
      }
      return waitedNanos < windowNanos;
    }
  }
}

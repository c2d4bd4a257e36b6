package io.millrace.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The lean part of HTTP/1.1 that a load needs: requests with a body, answers with a length. */
final class HttpExchange {
  private static final byte[] HEAD_END = Ascii.bytes("\r\n\r\n");
  private static final byte[] LENGTH = Ascii.bytes("ontent-");
  private static final byte[] OK = Ascii.bytes("HTTP/1.1 200");

  /** What the answer to a submitted job begins with. */
  static final byte[] ACCEPTED = Ascii.bytes("HTTP/1.1 202");

  private HttpExchange() {}

  /** A connection to a port of this machine. */
  static SocketChannel connect(int port) throws IOException {
    SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    return channel;
  }

  /** Writes all that remains, without blocking and without a rest. */
  static void write(SocketChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      if (channel.write(bytes) == 0) {
        Thread.onSpinWait();
      }
    }
  }

  static byte[] head(String path, int port) {
    return Ascii.bytes(
        "POST "
            + path
            + " HTTP/1.1\r\nHost: 127.0.0.1:"
            + port
            + "\r\nContent-Type: application/json\r\nContent-Length: ");
  }

  static void ask(ByteBuffer target, byte[] head, byte[] body) {
    target.put(head).put(Ascii.bytes(Integer.toString(body.length))).put(HEAD_END).put(body);
  }

  /**
   * The body of a whole answer, whose bytes are then behind the buffer's position; null while parts
   * are missing.
   *
   * @throws BenchException if the status is not 200
   */
  static @Nullable ByteBuffer hear(ByteBuffer received) {
    return hear(received, OK);
  }

  /** The same for another beginning of the answer than that of status 200. */
  static @Nullable ByteBuffer hear(ByteBuffer received, byte[] status) {
    int begin = received.position();
    int headEnd = Ascii.find(received, begin, HEAD_END);
    if (headEnd < 0) {
      return null;
    }
    if (Ascii.find(received, begin, status) != begin) {
      throw new BenchException("the server answers: " + Ascii.show(received));
    }
    int bodyBegin = headEnd + HEAD_END.length;
    long length = contentLength(received, begin, headEnd);
    if (received.limit() - bodyBegin < length) {
      return null;
    }
    ByteBuffer body = received.slice(bodyBegin, (int) length);
    received.position(bodyBegin + (int) length);
    return body;
  }

  /** The number behind {@code Content-Length:}, whatever its case. */
  private static long contentLength(ByteBuffer received, int begin, int headEnd) {
    for (int at = Ascii.find(received, begin, LENGTH);
        at >= 0 && at < headEnd;
        at = Ascii.find(received, at + 1, LENGTH)) {
      int after = at + LENGTH.length;
      if ((received.get(after) | 0x20) == 'l') {
        return Ascii.number(received, after + "length:".length());
      }
    }
    throw new BenchException("an answer without a length: " + Ascii.show(received));
  }

  /** Reads the plain text of protocols out of buffers. */
  static final class Ascii {
    private Ascii() {}

    static byte[] bytes(String text) {
      return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Where {@code sought} begins in what remains from {@code from} on; -1 where it does not. */
    static int find(ByteBuffer buffer, int from, byte[] sought) {
      int last = buffer.limit() - sought.length;
      for (int at = from; at <= last; at++) {
        int i = 0;
        while (i < sought.length && buffer.get(at + i) == sought[i]) {
          i++;
        }
        if (i == sought.length) {
          return at;
        }
      }
      return -1;
    }

    /** The decimal number that begins at {@code at}, after spaces. */
    static long number(ByteBuffer buffer, int at) {
      int place = at;
      while (place < buffer.limit() && buffer.get(place) == ' ') {
        place++;
      }
      long value = 0;
      while (place < buffer.limit()) {
        int digit = buffer.get(place) - '0';
        if (digit < 0 || digit > 9) {
          break;
        }
        value = value * 10 + digit;
        place++;
      }
      return value;
    }

    /** What remains, cut after 200 characters: for messages. */
    static String show(ByteBuffer buffer) {
      ByteBuffer rest = buffer.duplicate();
      rest.limit(Math.min(rest.limit(), rest.position() + 200));
      return StandardCharsets.UTF_8.decode(rest).toString();
    }
  }
}

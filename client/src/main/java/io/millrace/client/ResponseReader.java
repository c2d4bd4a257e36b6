package io.millrace.client;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads the responses of an HTTP/1.1 server (RFC 9112) from a stream, one after the other. If a
 * response is not HTTP, an {@link IOException} is thrown and the stream is unusable. Not
 * thread-safe.
 */
final class ResponseReader {
  /** The maximum length of a head. */
  static final int HEAD_BYTES = 32 << 10;

  private final InputStream in;
  private byte[] buffer = new byte[4 << 10];
  private int from;
  private int to;

  ResponseReader(InputStream in) {
    this.in = in;
  }

  /**
   * Reads the head of the next response, skipping interim responses (1xx). The body of the previous
   * response must have been read.
   *
   * @param method the method of the request; a response to HEAD has no body
   * @throws EOFException if the server ended the connection
   */
  ResponseStream next(String method) throws IOException {
    while (true) {
      ResponseStream response = new ResponseStream(readHead(), method);
      if (response.status() >= 200) {
        return response;
      }
    }
  }

  /** Reads a head up to its empty line, as ISO 8859-1. */
  private String readHead() throws IOException {
    int line = 0;
    int at = 0;
    while (true) {
      for (; at < to - from; at++) {
        if (buffer[from + at] == '\n') {
          int length = at - line;
          if (length == 0 || (length == 1 && buffer[from + line] == '\r')) {
            String head = new String(buffer, from, line, StandardCharsets.ISO_8859_1);
            from += at + 1;
            return head;
          }
          line = at + 1;
        }
      }
      if (at >= HEAD_BYTES) {
        throw new IOException("the head of the response is longer than " + HEAD_BYTES + " bytes");
      }
      if (!fill()) {
        throw new EOFException("the server closed the connection");
      }
    }
  }

  /** Reads more bytes into the buffer. Returns false at the end of the stream. */
  boolean fill() throws IOException {
    if (from == to) {
      from = 0;
      to = 0;
    } else if (to == buffer.length) {
      byte[] room = from > 0 ? buffer : new byte[buffer.length * 2];
      System.arraycopy(buffer, from, room, 0, to - from);
      buffer = room;
      to -= from;
      from = 0;
    }
    int count = in.read(buffer, to, buffer.length - to);
    to += Math.max(count, 0);
    return count >= 0;
  }

  /** Whether the buffer has bytes of the next response. */
  boolean hasMore() {
    return from < to;
  }

  private int take(byte[] target, int offset, int length) throws IOException {
    if (from == to) {
      if (length >= buffer.length) {
        return in.read(target, offset, length);
      }
      if (!fill()) {
        return -1;
      }
    }
    int count = Math.min(length, to - from);
    System.arraycopy(buffer, from, target, offset, count);
    from += count;
    return count;
  }

  private IOException notHttp(String what) {
    return new IOException("the response is not HTTP: " + what);
  }

  /** A response whose body is read as it arrives. Closing it does nothing. */
  final class ResponseStream extends InputStream {
    private final String head;
    private final int status;
    private final boolean chunked;
    private final boolean toEndOfStream;
    private final boolean keepsConnection;

    /** The number of bytes left of the body, or of the current chunk. */
    private long left;

    private boolean firstChunk = true;
    private boolean ended;

    private ResponseStream(String head, String method) throws IOException {
      this.head = head;
      status = status(head);
      String coding = header("Transfer-Encoding");
      chunked = coding != null && coding.toLowerCase(Locale.ROOT).endsWith("chunked");
      boolean empty = status < 200 || status == 204 || status == 304 || method.equals("HEAD");
      String length = coding == null ? header("Content-Length") : null;
      toEndOfStream = !empty && !chunked && length == null;
      left = empty || chunked ? 0 : length == null ? Long.MAX_VALUE : length(length);
      ended = empty || (!chunked && left == 0);
      String connection = header("Connection");
      keepsConnection =
          !toEndOfStream
              && (head.startsWith("HTTP/1.0")
                  ? "keep-alive".equalsIgnoreCase(connection)
                  : connection == null || !connection.toLowerCase(Locale.ROOT).contains("close"));
    }

    private int status(String head) throws IOException {
      String digits = head.length() < 12 ? "" : head.substring(9, 12);
      if (!head.startsWith("HTTP/1.") || !isNumber(digits)) {
        throw notHttp(head.substring(0, Math.min(head.length(), 40)).strip());
      }
      return Integer.parseInt(digits);
    }

    private long length(String text) throws IOException {
      if (!isNumber(text) || !text.equals(value("Content-Length", true))) {
        throw notHttp("Content-Length: " + text);
      }
      return Long.parseLong(text);
    }

    private boolean isNumber(String text) {
      for (int i = 0; i < text.length(); i++) {
        if (text.charAt(i) < '0' || text.charAt(i) > '9') {
          return false;
        }
      }
      return !text.isEmpty() && text.length() <= 18;
    }

    int status() {
      return status;
    }

    /** The value of the first header of this name; null if it is missing. */
    @Nullable String header(String name) {
      return value(name, false);
    }

    private @Nullable String value(String name, boolean last) {
      String value = null;
      int end = head.indexOf('\n');
      while (end >= 0 && end + 1 < head.length() && (last || value == null)) {
        int begin = end + 1;
        end = head.indexOf('\n', begin);
        int colon = begin + name.length();
        if (colon < end
            && head.charAt(colon) == ':'
            && head.regionMatches(true, begin, name, 0, name.length())) {
          value = head.substring(colon + 1, end).strip();
        }
      }
      return value;
    }

    /** Whether the connection can be reused after this response, which has been read. */
    boolean keepsConnection() {
      return keepsConnection && ended && !hasMore();
    }

    /** Whether the whole body was read, or there is none. */
    boolean hasEnded() {
      return ended;
    }

    /** Reads the rest of the body. */
    byte[] rest() throws IOException {
      if (chunked || toEndOfStream) {
        return readAllBytes();
      }
      if (left > Integer.MAX_VALUE - 8) {
        throw new IOException("a response of " + left + " bytes is too long");
      }
      byte[] body = new byte[(int) left];
      for (int count = 0; count < body.length; ) {
        count += read(body, count, body.length - count);
      }
      ended = true;
      return body;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      if (left == 0 && !ended) {
        ended = !chunked || !nextChunk();
      }
      if (ended) {
        return -1;
      }
      int count = take(target, offset, (int) Math.min(length, left));
      if (count >= 0) {
        left -= toEndOfStream ? 0 : count;
      } else if (toEndOfStream) {
        ended = true;
      } else {
        throw new EOFException("the server closed the connection within a response");
      }
      return count;
    }

    /** Moves to the next chunk. After the last chunk, reads the trailers and returns false. */
    private boolean nextChunk() throws IOException {
      if (!firstChunk && !line().isEmpty()) {
        throw notHttp("a chunk has no end");
      }
      firstChunk = false;
      String size = line();
      int semicolon = size.indexOf(';');
      String digits = (semicolon < 0 ? size : size.substring(0, semicolon)).strip();
      if (!digits.matches("[0-9a-fA-F]{1,15}")) {
        throw notHttp("a chunk of size " + size);
      }
      left = Long.parseLong(digits, 16);
      if (left > 0) {
        return true;
      }
      int trailers = 0;
      for (String trailer = line(); !trailer.isEmpty(); trailer = line()) {
        trailers += trailer.length();
        if (trailers > HEAD_BYTES) {
          throw notHttp("its trailers are too long");
        }
      }
      return false;
    }

    private String line() throws IOException {
      StringBuilder line = new StringBuilder();
      while (line.length() <= HEAD_BYTES) {
        if (from == to && !fill()) {
          throw new EOFException("the server closed the connection within a response");
        }
        char one = (char) (buffer[from++] & 0xff);
        if (one == '\n') {
          int end = line.length();
          return end > 0 && line.charAt(end - 1) == '\r'
              ? line.substring(0, end - 1)
              : line.toString();
        }
        line.append(one);
      }
      throw notHttp("a line is too long");
    }
  }
}

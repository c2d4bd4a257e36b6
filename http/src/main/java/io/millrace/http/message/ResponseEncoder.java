package io.millrace.http.message;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Encodes responses as HTTP/1.1. */
public final class ResponseEncoder {
  private static final byte[] OK = ascii("HTTP/1.1 200 OK\r\nDate: ");
  private static final byte[] JSON =
      ascii("Connection: keep-alive\r\nContent-Type: " + Response.JSON + "\r\nContent-Length: ");
  private static final byte[] HEAD_END = ascii("\r\n\r\n");
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'\r\n", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /** An upper bound of the size of a head without further headers. */
  private static final int HEAD_BYTES = 512;

  private static volatile Date date = new Date(0, new byte[0]);

  private ResponseEncoder() {}

  /** The value of the header Date for one second, with CR and LF. */
  private static final class Date {
    final long second;
    final byte[] text;

    Date(long second, byte[] text) {
      this.second = second;
      this.text = text;
    }
  }

  /** Encodes a response after which the connection is closed. */
  public static ByteBuffer last(Response.Whole response) {
    return encode(response, true, false, ByteBuffer.allocate(0));
  }

  /** Encodes a response after which the connection is kept, into {@code room} if it fits. */
  public static ByteBuffer encode(Response.Whole response, ByteBuffer room) {
    return encode(response, false, false, room);
  }

  /**
   * Encodes a response.
   *
   * @param last whether the connection is closed afterwards
   * @param headOnly whether the request was HEAD, so that the body is left out
   * @param room the target, if the response fits into it; otherwise a new buffer is allocated
   */
  public static ByteBuffer encode(
      Response.Whole response, boolean last, boolean headOnly, ByteBuffer room) {
    byte[] body = response.body();
    byte[] further =
        !last && Response.JSON.equals(response.type()) && response.headers().isEmpty()
            ? JSON
            : further(response, last, hasLength(response) ? "Content-Length: " : null);
    int max = HEAD_BYTES + further.length + body.length;
    ByteBuffer target = max <= room.remaining() ? room : ByteBuffer.allocate(max);
    putStatus(response.status(), target).put(further);
    if (hasLength(response)) {
      target.put(ascii(Integer.toString(body.length))).put(HEAD_END);
    } else {
      target.put(HEAD_END, 2, 2);
    }
    return (headOnly ? target : target.put(body)).flip();
  }

  /** Whether a status has a Content-Length (RFC 9110, section 8.6). */
  private static boolean hasLength(Response response) {
    return response.status() >= 200 && response.status() != 204 && response.status() != 304;
  }

  /**
   * Encodes the head of a response whose body follows.
   *
   * @param lengthBytes the length of the body; -1 if it is chunked
   */
  public static byte[] head(Response response, long lengthBytes, boolean last) {
    String framing =
        lengthBytes < 0 ? "Transfer-Encoding: chunked" : "Content-Length: " + lengthBytes;
    byte[] further = further(response, last, framing);
    ByteBuffer target = ByteBuffer.allocate(HEAD_BYTES + further.length);
    putStatus(response.status(), target).put(further).put(HEAD_END).flip();
    byte[] head = new byte[target.remaining()];
    target.get(head);
    return head;
  }

  private static ByteBuffer putStatus(int status, ByteBuffer target) {
    byte[] begin =
        status == 200 ? OK : ascii("HTTP/1.1 " + status + " " + reason(status) + "\r\nDate: ");
    return target.put(begin).put(date());
  }

  private static byte[] date() {
    long second = System.currentTimeMillis() / 1000;
    Date current = date;
    if (current.second != second) {
      current = new Date(second, ascii(DATE.format(Instant.ofEpochSecond(second))));
      date = current;
    }
    return current.text;
  }

  /** The headers after the date; the last one, {@code end}, is without CR and LF. */
  private static byte[] further(Response response, boolean last, @Nullable String end) {
    StringBuilder text = new StringBuilder();
    if (!response.headers().containsKey("Connection")) {
      text.append("Connection: ").append(last ? "close" : "keep-alive").append("\r\n");
    }
    response
        .headers()
        .forEach((name, value) -> text.append(name).append(": ").append(value).append("\r\n"));
    if (response.type() != null) {
      text.append("Content-Type: ").append(response.type()).append("\r\n");
    }
    return ascii(end == null ? text.toString() : text.append(end).toString());
  }

  /** The reason phrase of a status; empty for a status that is not used here. */
  static String reason(int status) {
    return switch (status) {
      case 200 -> "OK";
      case 201 -> "Created";
      case 202 -> "Accepted";
      case 204 -> "No Content";
      case 206 -> "Partial Content";
      case 303 -> "See Other";
      case 304 -> "Not Modified";
      case 307 -> "Temporary Redirect";
      case 400 -> "Bad Request";
      case 401 -> "Unauthorized";
      case 403 -> "Forbidden";
      case 404 -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 408 -> "Request Timeout";
      case 409 -> "Conflict";
      case 410 -> "Gone";
      case 411 -> "Length Required";
      case 412 -> "Precondition Failed";
      case 413 -> "Content Too Large";
      case 414 -> "URI Too Long";
      case 415 -> "Unsupported Media Type";
      case 416 -> "Range Not Satisfiable";
      case 417 -> "Expectation Failed";
      case 422 -> "Unprocessable Content";
      case 426 -> "Upgrade Required";
      case 428 -> "Precondition Required";
      case 429 -> "Too Many Requests";
      case 431 -> "Request Header Fields Too Large";
      case 500 -> "Internal Server Error";
      case 501 -> "Not Implemented";
      case 503 -> "Service Unavailable";
      case 504 -> "Gateway Timeout";
      case 505 -> "HTTP Version Not Supported";
      default -> "";
    };
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * The stream for the body of a {@link Response.Streamed}. Writes are buffered, and the head is
   * sent with the first of them. A body of unknown length is sent with its length if it fits into
   * the buffer, otherwise in chunks. For use by one thread.
   */
  public static final class BodyStream extends OutputStream {
    private static final int BUFFER_BYTES = 8 << 10;
    private static final int FIRST_BYTES = 512;
    private static final byte[] LINE_END = {'\r', '\n'};
    private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final OutputStream target;
    private final Response.Streamed response;
    private final boolean last;

    /** The length of the body; -1 if it is unknown. */
    private long lengthBytes;

    private byte[] buffer = new byte[FIRST_BYTES];
    private int buffered;
    private long written;
    private boolean begun;

    /**
     * The body of a response.
     *
     * @param last whether the connection is closed afterwards
     */
    public BodyStream(OutputStream target, Response.Streamed response, boolean last) {
      this.target = target;
      this.response = response;
      this.last = last;
      this.lengthBytes = response.lengthBytes();
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int count) throws IOException {
      written += count;
      if (response.lengthBytes() >= 0 && written > response.lengthBytes()) {
        throw new IllegalStateException("a response is longer than its Content-Length");
      }
      if (buffered + count > BUFFER_BYTES) {
        flush();
      }
      if (count >= BUFFER_BYTES) {
        send(source, offset, count, false);
        return;
      }
      if (buffered + count > buffer.length) {
        buffer = Arrays.copyOf(buffer, BUFFER_BYTES);
      }
      System.arraycopy(source, offset, buffer, buffered, count);
      buffered += count;
    }

    /** Sends the head, if it has not been sent, and everything that was written. */
    @Override
    public void flush() throws IOException {
      if (buffered > 0 || !begun) {
        int count = buffered;
        buffered = 0;
        send(buffer, 0, count, false);
      }
    }

    /** Ends the body, which is complete. */
    public void end() throws IOException {
      if (written < response.lengthBytes()) {
        throw new IllegalStateException("a response is shorter than its Content-Length");
      }
      if (!begun) {
        lengthBytes = written;
      }
      if (lengthBytes < 0 || !begun || buffered > 0) {
        send(buffer, 0, buffered, true);
      }
    }

    /** Sends a part of the body, in a single write if it is short. */
    private void send(byte[] source, int offset, int count, boolean end) throws IOException {
      boolean chunked = lengthBytes < 0;
      ByteArrayOutputStream text = new ByteArrayOutputStream(FIRST_BYTES);
      if (!begun) {
        begun = true;
        text.writeBytes(head(response, lengthBytes, last));
      }
      if (chunked && count > 0) {
        text.writeBytes(Integer.toHexString(count).getBytes(StandardCharsets.US_ASCII));
        text.writeBytes(LINE_END);
      }
      if (count >= BUFFER_BYTES) {
        text.writeTo(target);
        text.reset();
        target.write(source, offset, count);
      } else {
        text.write(source, offset, count);
      }
      if (chunked && count > 0) {
        text.writeBytes(LINE_END);
      }
      if (chunked && end) {
        text.writeBytes(LAST_CHUNK);
      }
      if (text.size() > 0) {
        text.writeTo(target);
      }
    }
  }
}

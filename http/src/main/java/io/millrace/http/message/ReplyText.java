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

/** Answers as the bytes that go over a connection. */
public final class ReplyText {
  private static final byte[] OK = ascii("HTTP/1.1 200 OK\r\nDate: ");
  private static final byte[] JSON =
      ascii("Connection: keep-alive\r\nContent-Type: " + Reply.JSON + "\r\nContent-Length: ");
  private static final byte[] HEAD_END = ascii("\r\n\r\n");
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'\r\n", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /** More than a head takes without its further headers. */
  private static final int HEAD_BYTES = 512;

  private static volatile Date date = new Date(0, new byte[0]);

  private ReplyText() {}

  /** The value of the header Date in one second, with the line's end. */
  private static final class Date {
    final long second;
    final byte[] text;

    Date(long second, byte[] text) {
      this.second = second;
      this.text = text;
    }
  }

  /** The bytes of an answer after which the connection is closed. */
  public static ByteBuffer last(Reply.Whole reply) {
    return of(reply, true, false, ByteBuffer.allocate(0));
  }

  /**
   * The bytes of an answer after which the connection is kept, in {@code room} if they have enough
   * of it.
   */
  public static ByteBuffer of(Reply.Whole reply, ByteBuffer room) {
    return of(reply, false, false, room);
  }

  /**
   * The bytes of an answer.
   *
   * @param last whether the connection is closed afterwards
   * @param headOnly whether the request was HEAD, so that the body is left out
   * @param room where the bytes go if it has enough room
   */
  public static ByteBuffer of(Reply.Whole reply, boolean last, boolean headOnly, ByteBuffer room) {
    byte[] body = reply.body();
    byte[] further =
        !last && Reply.JSON.equals(reply.type()) && reply.headers().isEmpty()
            ? JSON
            : further(reply, last, hasLength(reply) ? "Content-Length: " : null);
    int most = HEAD_BYTES + further.length + body.length;
    ByteBuffer target = most <= room.remaining() ? room : ByteBuffer.allocate(most);
    putStatus(reply.status(), target).put(further);
    if (hasLength(reply)) {
      target.put(ascii(Integer.toString(body.length))).put(HEAD_END);
    } else {
      target.put(HEAD_END, 2, 2);
    }
    return (headOnly ? target : target.put(body)).flip();
  }

  /** An answer without content has no length either (RFC 9110, section 8.6). */
  private static boolean hasLength(Reply reply) {
    return reply.status() >= 200 && reply.status() != 204 && reply.status() != 304;
  }

  /**
   * The head of an answer whose body follows.
   *
   * @param lengthBytes the length of the body; -1 if it comes in chunks
   */
  public static byte[] head(Reply reply, long lengthBytes, boolean last) {
    String framing =
        lengthBytes < 0 ? "Transfer-Encoding: chunked" : "Content-Length: " + lengthBytes;
    byte[] further = further(reply, last, framing);
    ByteBuffer target = ByteBuffer.allocate(HEAD_BYTES + further.length);
    putStatus(reply.status(), target).put(further).put(HEAD_END).flip();
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

  /** The headers behind the date, the last without its end. */
  private static byte[] further(Reply reply, boolean last, @Nullable String end) {
    StringBuilder text = new StringBuilder();
    if (!reply.headers().containsKey("Connection")) {
      text.append("Connection: ").append(last ? "close" : "keep-alive").append("\r\n");
    }
    reply
        .headers()
        .forEach((name, value) -> text.append(name).append(": ").append(value).append("\r\n"));
    if (reply.type() != null) {
      text.append("Content-Type: ").append(reply.type()).append("\r\n");
    }
    return ascii(end == null ? text.toString() : text.append(end).toString());
  }

  /** What a status means; empty for one that is not used here. */
  static String reason(int status) {
    return switch (status) {
      case 200 -> "OK";
      case 201 -> "Created";
      case 202 -> "Accepted";
      case 204 -> "No Content";
      case 206 -> "Partial Content";
      case 303 -> "See Other";
      case 304 -> "Not Modified";
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
   * The body of an answer that is written piece by piece. Writes are gathered; the head goes out
   * with the first of them. A body of unknown length that fits into the buffer gets a length, any
   * other comes in chunks. For use by one thread.
   */
  public static final class BodyStream extends OutputStream {
    private static final int BUFFER_BYTES = 8 << 10;
    private static final int FIRST_BYTES = 512;
    private static final byte[] LINE_END = {'\r', '\n'};
    private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final OutputStream target;
    private final Reply.Streamed reply;
    private final boolean last;

    /** The length of the body as far as known; -1 if it comes in chunks. */
    private long lengthBytes;

    private byte[] buffer = new byte[FIRST_BYTES];
    private int buffered;
    private long written;
    private boolean begun;

    /**
     * The body of an answer.
     *
     * @param last whether the connection is closed afterwards
     */
    public BodyStream(OutputStream target, Reply.Streamed reply, boolean last) {
      this.target = target;
      this.reply = reply;
      this.last = last;
      this.lengthBytes = reply.lengthBytes();
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int count) throws IOException {
      written += count;
      if (reply.lengthBytes() >= 0 && written > reply.lengthBytes()) {
        throw new IllegalStateException("an answer is longer than it said");
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

    /** Sends what was written, and the head in any case. */
    @Override
    public void flush() throws IOException {
      if (buffered > 0 || !begun) {
        int count = buffered;
        buffered = 0;
        send(buffer, 0, count, false);
      }
    }

    /** Ends the body, which is whole. */
    public void end() throws IOException {
      if (written < reply.lengthBytes()) {
        throw new IllegalStateException("an answer is shorter than it said");
      }
      if (!begun) {
        lengthBytes = written;
      }
      if (lengthBytes < 0 || !begun || buffered > 0) {
        send(buffer, 0, buffered, true);
      }
    }

    /** Sends a part, by a single write if it is short. */
    private void send(byte[] source, int offset, int count, boolean end) throws IOException {
      boolean chunked = lengthBytes < 0;
      ByteArrayOutputStream text = new ByteArrayOutputStream(FIRST_BYTES);
      if (!begun) {
        begun = true;
        text.writeBytes(head(reply, lengthBytes, last));
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

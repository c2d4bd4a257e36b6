package io.millrace.server.http;

import io.helidon.http.DateTime;
import io.helidon.http.Status;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Whole answers as the bytes that go over a connection. */
final class ReplyText {
  private static final byte[] OK = ascii("HTTP/1.1 200 OK\r\nDate: ");
  private static final byte[] JSON =
      ascii("Connection: keep-alive\r\nContent-Type: " + Reply.JSON + "\r\nContent-Length: ");
  private static final byte[] HEAD_END = ascii("\r\n\r\n");

  /** More than a head takes without its further headers. */
  private static final int HEAD_BYTES = 512;

  private ReplyText() {}

  /** The bytes of an answer after which the connection is closed. */
  static ByteBuffer last(Reply.Whole reply) {
    byte[] begin = statusLine(reply.status());
    byte[] further = further(reply, "close");
    ByteBuffer room = ByteBuffer.allocate(HEAD_BYTES + further.length + reply.body().length);
    return put(reply, begin, further, room);
  }

  /**
   * The bytes of an answer after which the connection is kept, in {@code room} where they have the
   * place.
   */
  static ByteBuffer of(Reply.Whole reply, ByteBuffer room) {
    byte[] body = reply.body();
    byte[] begin = reply.status() == 200 ? OK : statusLine(reply.status());
    byte[] further =
        Reply.JSON.equals(reply.type()) && reply.headers().isEmpty()
            ? JSON
            : further(reply, "keep-alive");
    int most = HEAD_BYTES + further.length + body.length;
    ByteBuffer target = most <= room.remaining() ? room : ByteBuffer.allocate(most);
    return put(reply, begin, further, target);
  }

  private static ByteBuffer put(
      Reply.Whole reply, byte[] begin, byte[] further, ByteBuffer target) {
    byte[] body = reply.body();
    target.put(begin).put(DateTime.http1Bytes()).put(further);
    return target.put(ascii(Integer.toString(body.length))).put(HEAD_END).put(body).flip();
  }

  private static byte[] statusLine(int status) {
    return ascii("HTTP/1.1 " + status + " " + Status.create(status).reasonPhrase() + "\r\nDate: ");
  }

  /** The headers between the date and the length. */
  private static byte[] further(Reply.Whole reply, String connection) {
    StringBuilder text = new StringBuilder("Connection: ").append(connection).append("\r\n");
    reply
        .headers()
        .forEach((name, value) -> text.append(name).append(": ").append(value).append("\r\n"));
    if (reply.type() != null) {
      text.append("Content-Type: ").append(reply.type()).append("\r\n");
    }
    return ascii(text.append("Content-Length: ").toString());
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}

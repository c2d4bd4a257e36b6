package io.millrace.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A client that submits small jobs, one after another. For use by one thread. */
final class SubmitLine implements AutoCloseable {
  /** What workers answer. */
  static final byte[] RESULT = Ascii.bytes("done");

  private static final int BUFFER_BYTES = 4 << 10;
  private static final int DIGITS = 20;
  private static final String BEFORE =
      """
      --b\r
      Content-Disposition: form-data; name="Priority"\r
      \r
      immediate\r
      --b\r
      Content-Disposition: form-data; name="Payload"\r
      \r
      """;
  private static final String AFTER = "\r\n--b--\r\n";

  private final SocketChannel channel;
  private final byte[] head;
  private final ByteBuffer in = ByteBuffer.allocate(BUFFER_BYTES);
  private boolean asking;

  private SubmitLine(SocketChannel channel, byte[] head) {
    this.channel = channel;
    this.head = head;
  }

  static SubmitLine connect(int port) throws IOException {
    SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.configureBlocking(false);
    int length = BEFORE.length() + DIGITS + AFTER.length();
    return new SubmitLine(
        channel,
        Ascii.bytes(
            "POST /api/jobs/submit HTTP/1.1\r\nHost: 127.0.0.1:"
                + port
                + "\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: "
                + length
                + "\r\n\r\n"
                + BEFORE));
  }

  SocketChannel channel() {
    return channel;
  }

  boolean isAsking() {
    return asking;
  }

  /** Submits a job whose payload is this number, in 20 digits. */
  void ask(long number) throws IOException {
    asking = true;
    String digits = Long.toString(number);
    ByteBuffer request = ByteBuffer.allocate(head.length + DIGITS + AFTER.length());
    request.put(head).put(Ascii.bytes("0".repeat(DIGITS - digits.length()) + digits + AFTER));
    request.flip();
    while (request.hasRemaining()) {
      if (channel.write(request) == 0) {
        Thread.onSpinWait();
      }
    }
  }

  /** Reads what has come. */
  void hear() throws IOException {
    if (channel.read(in) < 0) {
      throw new BenchException("the server has closed the connection of a client");
    }
    in.flip();
    if (HttpExchange.hear(in, HttpExchange.ACCEPTED) != null) {
      asking = false;
    }
    in.compact();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
